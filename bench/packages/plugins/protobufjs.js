import protobuf from 'protobufjs';

export default {
  version: '1.0.0',
  description: 'Uses protobufjs. Use to see that the package works.',
  async handler() {
    const { root } = protobuf.parse('syntax = "proto3"; message A { int32 n = 1; }');
    const A = root.lookupType('A');
    return A.decode(A.encode({ n: 7 }).finish()).n;
  },
  examples: [{ args: {}, expect: 7 }],
};
