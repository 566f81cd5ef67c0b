import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { keyRow } from '../../../test/story/key-list.ts'
import { newKey, ORIGIN, signed } from '../../../test/story/public-log.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { formatCheckpoint } from '../../tlog/checkpoint.ts'
import { rotationText } from '../../tlog/key-chain.ts'
import { proveKeys } from './origin-keys.ts'
import { provenTree } from './proven-tree.ts'

const LOG_ID = 'a'.repeat(32)
const SIZE = 7

suite('the proved tree of an origin', () => {
  const pinned = newKey()
  const others = Array.from({ length: 39 }, () => newKey())
  const rows = others.map((other) => {
    const text = rotationText(other.key, SIZE)
    return keyRow(other, { fromSize: SIZE, statement: signed(text, pinned) })
  })
  const list = { origin: ORIGIN, logId: LOG_ID, keys: [keyRow(pinned), ...rows], formerLogs: [] }
  const text = formatCheckpoint({ origin: ORIGIN, size: SIZE, root: new Uint8Array(32), extensions: [] })

  test('keeps two signatures of forty trusted keys, so that it fits the high-water mark', async () => {
    const keys = await proveKeys(Buffer.from(JSON.stringify(list)), {
      vkeys: [pinned.vkey],
      firstUse: false,
    })
    assert.equal(keys.trust.keys.length, 40)
    const [last = pinned] = others.slice(-1)
    const tree = await provenTree('a note', Buffer.from(signed(text, last, pinned, ...others)), keys)
    assert.equal(tree.note, signed(text, last, pinned))
    const folder = mkdtempSync(join(tmpdir(), 'daybook-proven-tree-'))
    try {
      const mark = { log: LOG_ID, checkpoint: tree.note, former: [] }
      markHighWater(folder, mark)
      assert.deepEqual(readHighWater(folder), mark)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
