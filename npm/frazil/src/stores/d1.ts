export class D1Store {}
