// GraphQL: a scalar in a real schema, as a result, a variable and a literal.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GraphQLNonNull, GraphQLObjectType, GraphQLScalarType, GraphQLSchema, graphql } from "graphql";
import { id, refused, UserId, written } from "./ids.mjs";

const scalar = new GraphQLScalarType({ name: "UserId", ...UserId });
const seen = [];
const resolve = (_, { id }) => {
  seen.push(id);
  return id;
};
const args = { id: { type: new GraphQLNonNull(scalar) } };
const query = new GraphQLObjectType({ name: "Query", fields: { user: { type: scalar, args, resolve } } });
const schema = new GraphQLSchema({ query });
const VARIABLE = "query ($id: UserId!) { user(id: $id) }";

test("a variable and a literal are read, and the result is written", async () => {
  for (const [source, variableValues] of [
    [VARIABLE, { id: written }],
    [`{ user(id: "${written}") }`, {}],
  ]) {
    const { data, errors } = await graphql({ schema, source, variableValues });
    assert.deepEqual([data?.user, errors], [written, undefined]);
    assert.equal(seen.pop(), id);
  }
});

test("others are errors, and reach no resolver", async () => {
  for (const wrong of refused) {
    for (const [source, variableValues] of [
      [VARIABLE, { id: wrong }],
      [`{ user(id: ${JSON.stringify(wrong)}) }`, {}],
    ])
      assert.ok((await graphql({ schema, source, variableValues })).errors, `${wrong}`);
  }
  assert.deepEqual(seen, []);
  const { errors } = await graphql({ schema, source: VARIABLE, variableValues: { id: "org_1ptWyK4WgZU" } });
  assert.match(errors[0].message, /INVALID_TEXT: text must match \^usr_/);
});
