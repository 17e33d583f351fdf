/** Texts that people pass instead of the decimal digits of an ID. */
export const UUID = /^[\da-f]{8}-[\da-f-]{27}$/i;
export const UUID_HINT = "That is a UUID (128 bits), not a Snowflake ID.";

/**
 * Text in a form of `frazil/text`, by its length and digits: base 62 to 32, and 16. Shorter text, or text without a letter, is more likely
 * a mistyped ID. Base 64 with `-` or `_` looks like words.
 */
export const FORM_TEXT = /^(?=.*[a-z])([\da-z]{8,13}|[\da-f]{14,16})$/i;
