// The decoder of the first page, in Chromium: published IDs, forms, warnings, a custom layout in the address, keyboard and narrow screens.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startSite } from "./site.mjs";

let site;
before(async () => {
  site = await startSite();
});
after(() => site?.close());

const { published } = JSON.parse(
  readFileSync(new URL("../../crates/core/vectors/layouts.json", import.meta.url), "utf8"),
);
/** What fits depends on the time. */
const NOW_MS = Date.parse("2026-11-28T12:00Z");

/** A tweet of 2012. Its bits are those of an ID of Discord of 2016 as well, so only its context tells. */
const AMBIGUOUS = "204697221847986177";

/** A tweet of 2022, and an ID whose texts in some forms are too large for the more usual ones. */
const TWEET = "1541815603606036480";
const LARGE = "11777767225478121501";

/** IDs of the real world, each with its layout and its time as the decoder shows it. */
const IDS = [
  ...published.filter(({ id }) => id !== AMBIGUOUS).map(({ id, layout, date }) => [id, layout, date]),
  // Documentation of Mastodon, entity Status, which was created at 03:48:33.901Z.
  ["103270115826048975", "mastodon", "2019-12-08T03:48:33.849Z"],
  // tsid-creator, readme.
  ["38352658567418867", "tsid", "2020-04-15T19:59:46.360Z"],
  // uid-generator, readme: worker 4, sequence 9. Its time is that of another epoch.
  ["180363646902239241", "baidu", "2016-07-19T10:07:53.000Z"],
  // The readme of this repository.
  ["382467004507910144", "default", "2026-11-21T09:47:19.768Z"],
];

/** Opens the first page. `paste` puts a text into the decoder, and returns what it shows for each ID. */
async function openDecoder(options, fragment = "") {
  const opened = await site.open(`/${fragment}`, { ...options, nowMs: NOW_MS });
  const { page } = opened;
  const decoder = page.locator("frazil-decoder");
  const input = decoder.getByLabel("An ID, several, or a log");
  await input.waitFor();
  return {
    ...opened,
    decoder,
    input,
    async paste(text, status) {
      await input.fill("");
      await decoder.locator("article").first().waitFor({ state: "detached" });
      await input.fill(text);
      await decoder.getByRole("status").getByText(status, { exact: true }).waitFor();
      return decoder.locator("article").allInnerTexts();
    },
  };
}

test("published IDs of eight systems are explained at once", async () => {
  const { paste, problems, close } = await openDecoder();
  assert.equal(new Set(IDS.map(([, layout]) => layout)).size, 8);
  const shown = await paste(IDS.map(([id]) => id).join("\n"), `${IDS.length} IDs found.`);
  for (const [at, [id, layout, date]] of IDS.entries()) {
    assert.match(shown[at], new RegExp(`^${id}\\n+${layout}: (likely|possible|the only)`), shown[at]);
    assert.ok(shown[at].includes(date), shown[at]);
  }
  const [either] = await paste(AMBIGUOUS, "1 ID found.");
  assert.match(either, /\ndiscord: possible, and twitter of 2012-05-21 as well/);
  const [tweet] = await paste(`https://twitter.com/someone/status/${AMBIGUOUS}`, "1 ID found.");
  assert.match(tweet, /\ntwitter: likely .*the text names twitter/);
  assert.ok(tweet.includes("2012-05-21T22:16:35.436Z"));
  assert.deepEqual(problems, []);
  await close();
});

test("IDs are found in every form, and in a log", async () => {
  const { paste, close } = await openDecoder();
  const [decimal] = await paste(`${TWEET}n`, "1 ID found.");
  assert.match(decimal, /2022-06-28T16:07:40\.105Z/);
  for (const [text, id, form] of [
    ["0x1565a11f6217a000", TWEET, "hex"],
    ["1565a11f6217a000", TWEET, "hex"],
    ["1ptWyK4WgZU", TWEET, "base62"],
    ["ULfUxSRQ3px", LARGE, "base58"],
    ["1ASD13XH1F800", TWEET, "base32"],
    ["0bppc0m3ju134", TWEET, "base36"],
    ["a6wr8wfmxs20x", LARGE, "crockford"],
    ["o3MI4-nciB0", LARGE, "base64url"],
  ]) {
    const [shown] = await paste(text, "1 ID found.");
    assert.match(shown, new RegExp(`^${text}\\n+${id} as decimal text\\. Read as ${form}\\b`));
  }
  const log =
    'INFO at 2026-11-21T09:47:19Z created "id":"175928847299117063" and id_1541815603606036480 for an information request';
  const shown = await paste(`${log}\n\n103270115826048975 twice: 103270115826048975`, "3 IDs found.");
  assert.match(shown[0], /^175928847299117063\n/);
  assert.match(shown[1], /^1541815603606036480\n/);
  const [uuid] = await paste("018f4d3c-8d1e-7000-8000-000000000000", "No ID found.");
  assert.match(uuid, /UUID/);
  await close();
});

test("what is wrong with an ID is said", async () => {
  const { paste, decoder, close } = await openDecoder();
  for (const [text, warning, status = "1 ID found."] of [
    ["175928847299117060", /Maybe rounded/],
    ["-5", /Negative/],
    ["5", /first day of the epoch/],
    ["9223372036854775807", /\nbaidu: possible \(/],
    ["1.5418156036060365e+18", /JavaScript number/, "No ID found."],
    ["99999999999999999999", /more than 64 bits/, "No ID found."],
  ]) {
    const [shown] = await paste(text, status);
    assert.match(shown, warning, text);
  }
  await paste("9223372036854775807", "1 ID found.");
  await decoder.getByLabel("Read as").selectOption("default");
  assert.match(await decoder.locator("article").innerText(), /As default, its time has not come yet\./);
  assert.doesNotMatch((await paste("1541815603606036480", "1 ID found."))[0], /rounded/);
  await close();
});

test("an own layout is in the address, without the ID, and nothing is sent", async () => {
  const { page, paste, decoder, problems, close } = await openDecoder();
  await paste("1541815603606036480", "1 ID found.");
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await decoder.getByText("Your own layout").click();
  await decoder.getByLabel("Fields").fill("time 41, shard 10, sequence 12");
  await decoder.getByLabel("Epoch").fill("2010-11-04T01:42:54.657Z");
  await decoder.getByRole("button", { name: "Use it" }).click();
  const address = page.url();
  assert.match(address, /#layout=time:41,shard:10,sequence:12&tick=1&epoch=2010-11-04T01:42:54\.657Z$/);
  const shown = await decoder.locator("article").innerText();
  assert.match(
    shown,
    /\nyours: the layout you gave \(its time is after the first day of the epoch, and at most a day ahead\)/,
  );
  assert.match(shown, /[2-9] layouts fit/);
  assert.match(shown, /2022-06-28T16:07:40\.105Z/);
  // Chromium asks for the icon again when the address changes.
  assert.deepEqual(
    requests.filter((url) => url !== `${site.origin}/icon.svg`),
    [],
  );
  assert.deepEqual(problems, []);
  await close();

  const shared = await openDecoder({}, new URL(address).hash);
  assert.equal(await shared.input.inputValue(), "");
  assert.match((await shared.paste("1541815603606036480", "1 ID found."))[0], /\nyours: /);
  await shared.decoder.getByLabel("Fields").fill("time 41, sequence");
  await shared.decoder.getByRole("button", { name: "Use it" }).click();
  assert.match(await shared.decoder.getByRole("alert").innerText(), /write a name and a width/);
  assert.deepEqual(shared.problems, []);
  await shared.close();
});

test("a fragment that anybody wrote: times without a zone are refused, texts are cut, and signs come back as they were", async () => {
  const alert = async (fragment) => {
    const { decoder, problems, close } = await openDecoder({}, fragment);
    const said = await decoder.getByRole("alert").innerText();
    const fields = await decoder.getByLabel("Fields").inputValue();
    assert.deepEqual(problems, []);
    await close();
    return { said, fields };
  };
  const { said } = await alert("#layout=time:41,node:10,sequence:12&epoch=2024-01-01T00:00");
  assert.match(said, /^Epoch "2024-01-01T00:00": write a day.* a time with Z or an offset/);
  assert.equal((await alert("#layout=time:41,node:10,sequence:12&epoch=2024-01-01T00:00%2B02:00")).said, "");
  const long = await alert(`#layout=${"x".repeat(10_000)}${",y".repeat(10_000)}&epoch=2024-01-01`);
  assert.ok(long.said.length < 200 && long.fields.length < 300, `${long.said} ${long.fields}`);

  const { page, decoder, close } = await openDecoder({}, "#layout=time:41,node:10,sequence:12");
  await decoder.getByLabel("Epoch").fill("2024-01-01T00:00+02:00&layout=<b>");
  await decoder.getByRole("button", { name: "Use it" }).click();
  await page.reload();
  assert.equal(await decoder.getByLabel("Epoch").inputValue(), "2024-01-01T00:00+02:00&layout=<b>");
  await close();
});

test("an own layout comes first: if its time is doubtful, and if it cannot hold the ID", async () => {
  for (const [fields, shown] of [
    ["time:41,node:10,sequence:12", /\nyours: doubtful.*As yours, its time has not come yet\./s],
    ["time:40,node:10,sequence:2", /\ntwitter: possible.*\nYours cannot hold it\./s],
  ]) {
    const { paste, close } = await openDecoder({}, `#layout=${fields}&epoch=2026-01-01`);
    assert.match((await paste(TWEET, "1 ID found."))[0], shown);
    await close();
  }
});

test("a system is named by whole words alone", async () => {
  const { paste, close } = await openDecoder();
  for (const text of ["outside", "netflix.com", "discordant", "tooth", "seatable"])
    assert.doesNotMatch((await paste(`${text} ${AMBIGUOUS}`, "1 ID found."))[0], /the text names/, text);
  for (const text of ["tweet_id", "tweets", "TweetId", "x.com/"])
    assert.match((await paste(`${text} ${AMBIGUOUS}`, "1 ID found."))[0], /the text names twitter/, text);
  await close();
});

test("a text without end is read in part, and ends within no ID", async () => {
  const { decoder, input, close } = await openDecoder();
  const read = async (text, status) => {
    await input.evaluate((area, text) => {
      area.value = text;
      area.dispatchEvent(new Event("input"));
    }, text);
    await decoder.getByRole("status").getByText(status, { exact: true }).waitFor();
  };
  await read(`${TWEET} ${" ".repeat(999_970)} ${LARGE} ${AMBIGUOUS}`, "1 ID found in the first 1,000,000 characters.");
  // A pattern for the end of a word would take hours.
  await read(`${TWEET} ${"-".repeat(900_000)}x`, "1 ID found.");
  await close();
});

test("the keyboard reaches everything, and a narrow page needs no scrolling to the side", async () => {
  const { page, input, decoder, close } = await openDecoder({ viewport: { width: 320, height: 640 } });
  await input.focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await decoder.getByRole("status").getByText("1 ID found.").waitFor();
  const select = decoder.getByLabel("Read as");
  for (let presses = 0; presses < 10 && !(await select.evaluate((one) => one.matches(":focus"))); presses++)
    await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await select.inputValue(), "twitter");
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await close();
});
