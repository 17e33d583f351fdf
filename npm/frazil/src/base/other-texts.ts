/** Texts that people give for the decimal digits of an ID. */
export const UUID = /^[\da-f]{8}-[\da-f-]{27}$/i;
export const UUID_HINT = "That is a UUID (128 bits), not a Snowflake ID.";

/**
 * What a form of `frazil/text` reads, by its length and digits: base 62 to 32, and 16. What is shorter, or has no letter, is rather a
 * mistyped ID. Base 64 with `-` or `_` looks like words.
 */
export const FORM_TEXT = /^(?=.*[a-z])([\da-z]{8,13}|[\da-f]{14,16})$/i;
