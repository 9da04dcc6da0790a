// CommonJS, because `require('assert')` is itself a function while `import { equal }` names its members.
const { looseAssertions, ok, strictAssertions } = require('./assertions.ts');

const strict = Object.assign((value, message) => ok(value, message), strictAssertions);
const assert = Object.assign((value, message) => ok(value, message), looseAssertions, { strict });

strict.strict = strict;
module.exports = assert;
