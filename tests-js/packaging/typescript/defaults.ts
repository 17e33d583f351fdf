import frazil from "frazil";
import Snowflake from "frazil";
import decoder from "frazil/decode";

export { decoder, frazil, Snowflake };
