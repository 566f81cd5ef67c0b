#!/usr/bin/env node
'use strict'
// Old syntax, so that an old Node can run this check too. The rest uses `import()` and is in another file.
var LEAST = [24, 15]
var have = process.versions.node.split('.').map(Number)
if (have[0] > LEAST[0] || (have[0] === LEAST[0] && have[1] >= LEAST[1])) {
  require('./start.cjs')
} else {
  process.stderr.write(
    'daybook: Node ' +
      LEAST.join('.') +
      ' or newer is required; this is Node ' +
      process.versions.node +
      '\n',
  )
  process.exitCode = 1
}
