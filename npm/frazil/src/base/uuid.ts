/** A UUID as text, which people take for an ID. */
export const UUID = /^[\da-f]{8}-[\da-f-]{27}$/i;
