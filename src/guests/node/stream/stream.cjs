// node:stream, as its users' edition for other platforms has it.
module.exports = require('readable-stream/lib/stream.js');
