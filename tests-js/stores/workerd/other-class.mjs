import { DurableObject } from "cloudflare:workers";

/** A class of objects that grants nothing. */
export class OtherClass extends DurableObject {}
