// The Worker of `refusals.mjs`: calls a subject as often as the request says. Without one, it answers with the names.
import * as frazil from "frazil";
import { run, subjectsOf } from "./subjects.mjs";

let subjects;

export default {
  fetch(request) {
    subjects ??= subjectsOf(frazil);
    const given = new URL(request.url).searchParams;
    const name = given.get("name");
    if (name === null) return Response.json(Object.keys(subjects));
    run(subjects[name], Number(given.get("count")), given.get("stack"));
    return new Response();
  },
};
