// node:assert/strict: the same function, short names compare strictly.
const { ok, strictAssertions } = require('./assertions.ts');

const strict = Object.assign((value, message) => ok(value, message), strictAssertions);

strict.strict = strict;
module.exports = strict;
