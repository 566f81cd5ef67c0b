import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { parseNote } from '../../src/tlog/note.ts'
import { daybook } from '../stage/service.ts'
import { run } from '../stage/command-stage.ts'
import { fetchDescribed } from '../stage/described.ts'
import { startNode } from '../stage/node-process.ts'
import { openFolder } from '../story/damaged-log.ts'

suite('a served log', () => {
  test('lists its keys, signs with both during a change, and is not served without one', async () => {
    using folder = openFolder()
    const { data } = folder
    const next = join(folder.path, 'next.key')
    const draft = { ref: 'r1', type: 'trade', kind: 'buy', kots: '1' }
    const first = await startNode(data)
    assert.match(first.stderr(), /made the key that signs this log: .*data\.key/)
    const vkey = /localhost\/daybook\+[^"\s]+/.exec(first.stderr())?.[0] ?? assert.fail(first.stderr())
    assert.equal((await first.publish([draft])).status, 200)
    assert.equal((await first.end('SIGTERM')).code, 0)
    const made = await run(['keygen', '--to', next])
    assert.equal(made.code, 0, made.stderr)

    const both = await startNode(data, ['--signing-key-file', `${data}.key,${next}`])
    assert.equal((await both.publish([{ ...draft, ref: 'r2' }])).status, 200)
    const keys = await (await fetchDescribed(`${both.url}/api/v1/log/keys`)).text()
    assert.ok(keys.includes(vkey) && keys.includes(made.stdout.trimEnd()), keys)
    const note = parseNote(await (await fetchDescribed(`${both.url}/api/v1/log/checkpoint`)).bytes())
    assert.ok(note.ok && note.value.text.split('\n')[1] === '2')
    assert.equal(note.value.signatures.length, 2)
    assert.equal((await both.end('SIGTERM')).code, 0)

    rmSync(`${data}.key`)
    const without = await daybook('serve', '--data', data, '--port', '0', '--publish-port', '0')
    assert.equal(without.code, 2)
    assert.match(without.stderr, /^daybook: the signing key file .* cannot be read: [^\n]+\n$/)
  })
})
