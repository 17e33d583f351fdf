/** A time in the forms that are shown. */
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 365.25 * 86_400_000],
  ["month", 30.4375 * 86_400_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

export function timesOf(ms: number, nowMs: number): readonly (readonly [name: string, text: string])[] {
  const ago = ms - nowMs;
  const [unit, length] = UNITS.find(([, length]) => Math.abs(ago) >= length) ?? ["second", 1000];
  return [
    ["UTC", new Date(ms).toISOString()],
    ["Local", local.format(ms)],
    ["Relative", relative.format(Math.trunc(ago / length), unit)],
    ["Unix", `${ms} ms`],
  ];
}
