// The texts of rules, as the sources and the tables have them: what the rule says, and after a line break what to do.
import assert from "node:assert/strict";

/** The members of an error that breaks a rule. */
export function ruled(text) {
  const [rule, ...hints] = text.split("\n");
  return hints.length === 0 ? { rule } : { rule, hint: hints.join(" ") };
}

/** The rule of an error, and its hint, as such a text. */
export const ruleTextOf = ({ rule, hint }) => (hint === undefined ? rule : `${rule}\n${hint}`);

/** The message of an error about a field whose value is shown so. */
export const messageOf = ({ code, field, rule }, shown) =>
  rule.startsWith("must ") ? `${code}: ${field} ${rule}, got ${shown}` : `${code}: ${rule}`;

/** The message of an error and its hint, as one text. */
export const wholeText = ({ message, hint }) => (hint === undefined ? message : `${message}. ${hint}`);

/** Checks that an error has these members, where `message` is its message, or a pattern of message and hint as one text. */
export const told =
  ({ message, ...members }) =>
  (error) => {
    for (const [name, value] of Object.entries(members)) assert.deepEqual(error[name], value, `${name} of ${error}`);
    if (typeof message === "string") assert.equal(error.message, message);
    else assert.match(wholeText(error), message);
    return true;
  };
