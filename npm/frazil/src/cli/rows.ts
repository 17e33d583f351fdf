/**
 * `--column`: rows of CSV or of columns between tabs, in which the answers replace one column.
 *
 * A row has a character for each byte, so that the other columns stay as they are in any encoding that has ASCII.
 */
import { DecodeError } from "frazil";
import { showName } from "../base/errors.js";
import { hintOf } from "../base/option-keys.js";
import { shownArgument, UsageError } from "./usage-error.js";

/** The kept bytes of a row, which may have several lines. */
export const MAX_ROW = 65_536;

/** More column names than this are not listed in a hint. */
const MAX_NAMES = 8;

/** A text without the quotes of CSV or JSON around it. */
export const unquoted = (text: string): string => (/^".*"$/.test(text) ? text.slice(1, -1) : text);

const COMMAS = /"[^"]*(?:""[^"]*)*"(?!")[^,]*|(?!")[^,]*/y;
const SEMICOLONS = /"[^"]*(?:""[^"]*)*"(?!")[^;]*|(?!")[^;]*/y;

/** The cells of a row as they are written, or `undefined` if the last one is in quotes that do not end. With tabs there are no quotes. */
function cellsOf(row: string, separator: string): string[] | undefined {
  if (separator === "\t") return row.split(separator);
  const cell = separator === "," ? COMMAS : SEMICOLONS;
  const cells: string[] = [];
  for (cell.lastIndex = 0; ; cell.lastIndex++) {
    const [text] = cell.exec(row) ?? [];
    if (text === undefined) return undefined;
    cells.push(text);
    if (cell.lastIndex === row.length) return cells;
  }
}

/** The separator that a row shows outside its quotes. */
function separatorOf(row: string): string {
  const bare = row.replace(/(?<![^,;\t])"[^"]*(?:""[^"]*)*"/g, "");
  return bare.includes("\t") ? "\t" : bare.includes(";") && !bare.includes(",") ? ";" : ",";
}

/** The text of a cell, without blanks, the mark of UTF-8, and quotes around it. */
const textOf = (cell: string): string => unquoted(cell.trim());
const textOfBytes = (cell: string): string => textOf(Buffer.from(cell, "latin1").toString());

/** The names in a first row, which is text. */
export const columnsOf = (row: string): string[] => (cellsOf(row, separatorOf(row)) ?? []).map(textOf);

export class Rows {
  /** The name of the column, which the first row has, or its number from 1. */
  readonly #column: string;
  #separator = "";
  /** The index of the column, below 0 before the first row. */
  #at: number;
  /** The lines of a row whose last cell goes on. */
  #open = "";

  constructor(column: string) {
    this.#column = column;
    this.#at = /^\d+$/.test(column) ? Number(column) - 1 : -1;
    if (column === "" || /^0+$/.test(column))
      throw new UsageError("--column must be the name of a column, or its number from 1");
  }

  /** The next row with the answer in the column; `undefined` if the line is blank, or the row goes on. */
  answer(line: string, answer: (text: string) => string): string | undefined {
    const row = this.#open + line;
    // Not read again for each line: of 64 kB of line ends that would take seconds.
    if (this.#open !== "" && row.length <= MAX_ROW && !line.includes('"')) {
      this.#open = `${row}\n`;
      return undefined;
    }
    this.#open = "";
    // Not a row of tabs: its cells are empty.
    if (/^[ \r]*$/.test(row)) return undefined;
    if (row.length > MAX_ROW) throw rowError(`must have at most ${MAX_ROW} bytes`);
    this.#separator ||= separatorOf(row);
    const cells = cellsOf(row, this.#separator);
    if (cells === undefined) {
      this.#open = `${row}\n`;
      return undefined;
    }
    if (this.#at < 0) {
      this.#at = this.#find(cells);
      return row;
    }
    const cell = cells[this.#at];
    if (cell === undefined) throw rowError(`must have a column ${this.#at + 1}, and has ${cells.length}`);
    const text = textOfBytes(cell);
    if (text === "") return row;
    const answered = answer(text);
    cells[this.#at] = cell.replace(text, () => answered);
    return cells.join(this.#separator);
  }

  /** Refuses a last row whose quotes do not end. */
  end(): undefined {
    if (this.#open !== "") throw rowError("must end its quotes");
  }

  /** The index of the column in the first row. */
  #find(cells: readonly string[]): number {
    const names = cells.map(textOfBytes);
    const name = shownArgument(this.#column);
    const at = names.indexOf(this.#column);
    if (at < 0) {
      const [some, more] = [names.slice(0, MAX_NAMES).map(showName).join(", "), names.length > MAX_NAMES ? ", …" : ""];
      const hint = hintOf(this.#column, names.join(", "), `Use one of ${some}${more}.`);
      throw new UsageError(`the first row has no column ${name}\n${hint}`);
    }
    if (names.includes(this.#column, at + 1))
      throw new UsageError(`the first row has ${name} twice\nRename one of them.`);
    return at;
  }
}

const rowError = (rule: string) => new DecodeError("INVALID_TEXT", `row ${rule}`, { field: "row", rule });
