/** The report of the engine (`crates/audit`), as far as it is printed. */

/** A row to look at. IDs are decimal text. */
export interface Row {
  /** The number of the file, from 0; absent with `line`, where only a second look at the input tells. */
  readonly file?: number;
  readonly line?: number;
  readonly id: string;
  readonly host?: string;
}

export interface Finding {
  readonly kind: string;
  readonly certainty: "exact" | "statistical" | "informational";
  /** How often a clean set has such a finding. */
  readonly falseAlarmRate?: number;
  readonly count: number;
  readonly message: string;
  readonly hint: string;
  readonly rows: readonly Row[];
}

export interface Report {
  readonly layout: {
    readonly name?: string;
    readonly fields: readonly { readonly kind: string; readonly name?: string; readonly bits: number }[];
    readonly epochMs: number;
    readonly tickMs: number;
    readonly guessed: boolean;
    readonly score?: number;
    readonly reason?: string;
    readonly runnerUp?: { readonly name: string; readonly score: number };
  };
  readonly rows: number;
  readonly ids: number;
  readonly distinct: number;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly nodes: {
    readonly inUse: number;
    readonly of: number;
    readonly top: readonly {
      readonly node: number;
      readonly ids: number;
      readonly fromMs: number;
      readonly toMs: number;
      readonly hosts?: readonly string[];
    }[];
  };
  readonly days: readonly { readonly day: string; readonly ids: number }[];
  /** Worst first. */
  readonly findings: readonly Finding[];
}
