import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { unpackKept } from '../books/kept-store.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'
import { OLDEST_SCHEMA } from '../../src/log/store/store-schema.ts'

const DOCUMENT = 'docs/upgrading.md'
const COMMAND = `'${process.execPath}' '${join(ROOT, 'src', 'main.ts')}'`

suite(DOCUMENT, () => {
  test('upgrades the oldest kept store, checks it and removes the old one, by its own commands', () => {
    using kept = unpackKept(OLDEST_SCHEMA)
    const blocks = blocksOf(textOf(DOCUMENT)).filter(({ before }) => before === '<!-- run: upgrade -->')
    const said = blocks.map(({ text }) => {
      const script = text
        .replaceAll('/var/lib/daybook/log', kept.data)
        .replaceAll(/^runuser -u daybook -- daybook /gm, `${COMMAND} `)
      return execFileSync('sh', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    })
    assert.match(said[0] ?? '', /^4484 events upgraded from schema 8 to schema \d+ in \d/)
    assert.match(said[1] ?? '', /^4484 events: every table agrees with the log/)
    assert.match(said[2] ?? '', /daybook\.db\.schema-8 is removed: \d/)
    assert.equal(said.length, 3)
  })
})
