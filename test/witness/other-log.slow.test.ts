import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { verifyRawEd25519, verifyRawMlDsa44 } from '../../src/log/tree/signer.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { readCheckpoint } from '../../src/tlog/checkpoint.ts'
import { openVouching } from '../../src/tlog/quorum.ts'
import { freePort } from '../processes/free-ports.ts'
import { endProgram, spawnTied, until } from '../processes/other-program.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { sha256 } from '../tlog/example.ts'
import { WITNESS_KEYS, WITNESS_NAME } from './cosigner-stage.ts'
import { HAS_LITEWITNESS, LITEWITNESS_NEEDED, torchwoodProgram } from './litewitness.ts'
import { startStagedWitness } from './witness-stage.ts'
import { formatVkey, parseVkey } from '../../src/tlog/note.ts'

const ORIGIN = 'keys.example/log'

/** Value that the key generator prints for a variable of the server. */
function printed(text: string, label: string): string {
  return (
    text
      .split('\n')
      .find((line) => line.startsWith(label))
      ?.split(': ')[1] ?? assert.fail(label)
  )
}

suite('a log of another program', { skip: skipUnless(HAS_LITEWITNESS, LITEWITNESS_NEEDED) }, () => {
  test('(age-keyserver, built with Tessera) publishes only what a daybook witness has cosigned', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-other-log-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rmSync(folder, { recursive: true }))
    const made = execFileSync(torchwoodProgram('age-keyserver-keygen'), [ORIGIN], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const vkey = printed(made, 'Public key')
    const known = [{ origin: ORIGIN, keys: [parseVkey(sha256, vkey) ?? assert.fail()] }]
    const witness = await startStagedWitness(join(folder, 'witness'), known, () => msOf(Date.now()))
    stack.use(witness)

    // It knows keys of type 0x04 only.
    const [ed25519] = WITNESS_KEYS.map(({ verifier }) => verifier)
    assert.ok(ed25519?.type === 'ed25519-cosignature')
    const url = `http://127.0.0.1:${witness.port}`
    const policy = join(folder, 'policy')
    writeFileSync(policy, `log ${vkey}\nwitness ours ${formatVkey(ed25519)} ${url}\nquorum ours\n`)
    const port = await freePort()
    const words = ['-listen', `127.0.0.1:${port}`, '-db', join(folder, 'db'), '-logdir', join(folder, 'log')]
    const env = {
      ...process.env,
      LOG_KEY: printed(made, 'Private key'),
      VRF_KEY: printed(made, 'Private VRF key'),
      LOG_WITNESS_POLICY: policy,
      POSTMARK_TOKEN: 'none',
    }
    const server = spawnTied(torchwoodProgram('age-keyserver'), words, { stdio: 'ignore', env })
    stack.defer(() => endProgram(server, 'SIGTERM'))

    const checkpoint = join(folder, 'log', 'checkpoint')
    await until('it has published its checkpoint', () => Promise.resolve(existsSync(checkpoint)))
    const read = readCheckpoint(readFileSync(checkpoint))
    assert.ok(read.ok)
    const verification = { verifyEd25519: verifyRawEd25519, verifyMlDsa44: verifyRawMlDsa44 }
    const vouching = await openVouching(read.value.note, [ed25519], verification)
    assert.deepEqual(vouching.ok && vouching.value.vouchers.map(({ name }) => name), [WITNESS_NAME])
  })
})
