module.exports = require('node:stream').promises;
