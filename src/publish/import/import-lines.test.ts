import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { codePoints } from '../../../test/story/code-points.ts'
import { readLines } from './import-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'daybook-lines-'))
after(() => rmSync(folder, { recursive: true, force: true }))

type LinesRead = Readonly<{ lines: readonly string[]; bytes: number; fault: string | null }>

async function read(content: string | Uint8Array): Promise<LinesRead> {
  const path = join(folder, 'file')
  writeFileSync(path, content)
  const lines: string[] = []
  let bytes = 0
  for await (const block of readLines(path, (more) => void (bytes += more))) {
    if ('reason' in block) return { lines, bytes, fault: `${block.line}: ${block.reason}` }
    assert.equal(block.first, lines.length + 1)
    lines.push(...block.lines)
  }
  return { lines, bytes, fault: null }
}

suite('the lines of a file', () => {
  test('are those of its text, wherever its chunks end', async () => {
    const line = fc.oneof(
      fc
        .string({ unit: codePoints, maxLength: 40 })
        .map((text) => text.replaceAll('\n', '').replaceAll('\uFEFF', '')),
      fc.integer({ min: 0, max: 60_000 }).map((length) => 'ä'.repeat(length / 2)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 40 }), fc.boolean(), async (texts, zipped) => {
        const text = texts.join('\n')
        const content = zipped ? gzipSync(text) : Buffer.from(text)
        assert.deepEqual(await read(content), { lines: text.split('\n'), bytes: content.length, fault: null })
      }),
      { numRuns: 60 },
    )
  })

  test('end before the first that is not UTF-8, which is named', async () => {
    const good = 'a line\n'.repeat(100_000)
    const { lines, fault } = await read(
      Buffer.concat([Buffer.from(good), Buffer.from([0xc3, 0x28, 0x0a, 0x41])]),
    )
    assert.equal(lines.length, 100_000)
    assert.equal(fault, '100001: is not UTF-8')
  })

  test('are bounded, even without a line feed', async () => {
    const { lines, fault, bytes } = await read(`first\n${'x'.repeat(5_000_000)}`)
    assert.deepEqual(lines, ['first'])
    assert.equal(fault, '2: is longer than 65536 bytes')
    assert.ok(bytes < 1_000_000)
  })

  test('end with the reason when the file cannot be read, without its path', async () => {
    const blocks = await Array.fromAsync(readLines(join(folder, 'none'), () => undefined))
    assert.deepEqual(blocks, [{ line: 1, reason: 'cannot be read (ENOENT)' }])
  })
})
