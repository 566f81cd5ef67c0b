#!/usr/bin/env node
'use strict'
// Read by any Node: written so that an old one can say what it lacks. The rest begins where `import()` is known.
var LEAST = [24, 15]
var have = process.versions.node.split('.').map(Number)
if (have[0] > LEAST[0] || (have[0] === LEAST[0] && have[1] >= LEAST[1])) {
  require('./start.cjs')
} else {
  process.stderr.write(
    'daybook: this needs Node ' + LEAST.join('.') + ' or newer, and runs on ' + process.versions.node + '\n',
  )
  process.exitCode = 1
}
