// Typed IDs as fields of Mongoose, which keeps a `bigint` as a 64-bit integer. `to` refuses one above 2^63, which BSON would make negative.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BSON } from "mongodb";
import { createConnection, Schema } from "mongoose";
import { ADA, FIRST, POSTS, PostId, USER, UserId } from "./model.mjs";
import { startMongo } from "./mongo-server.mjs";

const idField = ({ to }, more) => ({ type: BigInt, set: to, ...more });
const userSchema = new Schema({ _id: idField(UserId), name: String });
const postSchema = new Schema({
  _id: idField(PostId, { default: PostId.next }),
  authorId: idField(UserId, { ref: "User" }),
  title: String,
});

let mongo;
let connection;
let User;
let Post;
before(async () => {
  mongo = await startMongo();
  connection = await createConnection(mongo.url, { useBigInt64: true, serverApi: "1" }).asPromise();
  User = connection.model("User", userSchema);
  Post = connection.model("Post", postSchema);
  await User.create({ _id: ADA, name: USER.name });
  await Post.create(POSTS.map(({ id, ...rest }) => ({ _id: id, ...rest })));
});
after(async () => {
  await connection?.close();
  mongo?.close();
});

test("documents and conditions", async () => {
  assert.equal(typeof mongo.collections.get("posts")[0]._id, "bigint");
  const post = await Post.findOne({ _id: FIRST });
  assert.equal(post._id, FIRST);
  assert.equal(post.authorId, ADA);
  assert.equal((await Post.find({ _id: { $in: [FIRST] } })).length, 1);
  assert.equal((await Post.findOne({ _id: FIRST }).lean())._id, FIRST);
});

test("populate", async () => {
  const [post] = await Post.find({ _id: FIRST }).populate("authorId");
  assert.equal(post.authorId._id, ADA);
  assert.equal(post.authorId.name, "Ada");
});

test("the default is a new ID", async () => {
  const { _id } = await Post.create({ authorId: ADA, title: "Made" });
  assert.match(PostId.format(_id), /^post_\w{11}$/);
});

test("a rounded number is refused, in a document and in a condition", async () => {
  const rounded = Number(FIRST);
  const ofFrazil = (error) => error.name === "DecodeError" && error.code === "INVALID_ID";
  await assert.rejects(new Post({ _id: rounded }).validate(), ({ errors }) => ofFrazil(errors._id.reason));
  await assert.rejects(Post.findOne({ _id: rounded }).exec(), ofFrazil);
});

test("without useBigInt64, documents have IDs and lean ones a Long", async () => {
  const other = await createConnection(mongo.url, { serverApi: "1" }).asPromise();
  const find = () => other.model("Post", postSchema).findOne({ _id: FIRST });
  assert.equal((await find())._id, FIRST);
  assert.ok((await find().lean())._id instanceof BSON.Long);
  await other.close();
});
