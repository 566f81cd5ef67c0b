import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { skipWithout } from '../processes/test-needs.ts'
import type { LogKeys } from '../../src/protocol/endpoints/file-endpoints.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { get } from '../oracle/download.ts'
import { type Service, startService } from '../stage/service.ts'
import { ROOT, SAMPLE } from '../stage/places.ts'
import { cosignNewest, WITNESSES } from '../story/witnesses.ts'
import { formatVkey } from '../../src/tlog/note.ts'

const run = promisify(execFile)
const BLOCK_MS_MAX = 60_000
/** Programs that the recipes need. */
const TOOLS = ['curl', 'gzip', 'openssl', 'sha256sum', 'awk', 'base64'] as const

const blocks = blocksOf(textOf('docs/verifying.md')).flatMap(({ language, text, before: line, line: at }) => {
  const by = /^<!-- run: (tool|hand) -->$/.exec(line)?.[1]
  return language === 'sh' && by !== undefined ? [{ by, text, at }] : []
})

/** Output of each recipe for the sample. */
const SAYS: readonly RegExp[] = [
  /all of it is right|right, and 1 not checked/,
  /^Signature Verified Successfully$/m,
  /^Signature Verified Successfully\n.* 2026$/m,
  /^event 42 is in the tree$/m,
  /^2026-07\.jsonl\.gz: OK\n2026-07\.details\.jsonl\.gz: OK$/m,
  /^2187 events without a gap\n0$/m,
  /^"burned":"\d+\.\d{9}"$/m,
]

suite('docs/verifying.md', { skip: skipWithout(...TOOLS) }, () => {
  let folder = ''
  let service: Service
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'daybook-verifying-'))
    service = await startService({ drafts: SAMPLE })
    const { keys } = await get<LogKeys>(service.url, '/api/v1/log/keys')
    await writeFile(join(folder, 'vkey'), `${keys[0]?.vkey}\n`)
    await cosignNewest(service)
    const [, witness] = WITNESSES
    assert.ok(witness !== undefined)
    await writeFile(join(folder, 'witness.vkey'), `${formatVkey(witness.key)}\n`)
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  test('has the expected number of recipes', () => assert.equal(blocks.length, SAYS.length))

  for (const [index, { by, text, at }] of blocks.entries()) {
    test(`line ${at} succeeds`, async () => {
      const script = text
        .replaceAll('npm run -s daybook --', `'${process.execPath}' '${join(ROOT, 'src', 'main.ts')}'`)
        .replaceAll('http://127.0.0.1:8080', service.url)
      // With `sh`, which every system has.
      const shell = by === 'tool' ? 'bash' : 'sh'
      const { stdout } = await run(shell, ['-euc', script], { cwd: folder, timeout: BLOCK_MS_MAX })
      assert.match(stdout, SAYS[index] ?? /^$/)
    })
  }
})
