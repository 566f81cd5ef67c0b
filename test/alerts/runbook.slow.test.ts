import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import type { Service } from '../../src/command/service/service.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import { run } from '../stage/command-stage.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { LOCAL_TOKEN, postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { ROOT } from '../stage/places.ts'
import { judgeOf } from '../../src/finality/command/finality-options.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { TEST_KEY } from '../story/signing.ts'

const RUNBOOK = 'docs/runbook'
const NEW_LOG = { origin: 'daybook.test/runbook', chain: 'solana', simulated: false } as const
const BLOCK_MS_MAX = 60_000
/** A judge whose server nobody answers for: its metrics are those of the runbook. */
const judge = judgeOf({
  chain: 'solana',
  urls: ['http://127.0.0.1:9'],
  requestsPerMinute: 60,
  amounts: null,
  overdueMs: 3_600_000,
})
/** Needs of a block: a service that runs, or one that is stopped. `doctor` also ends with 1 when it finds something. */
const KINDS = ['runbook', 'stopped', 'doctor']

type Command = Readonly<{ kind: string; text: string; pages: readonly string[] }>

/** Shell blocks of the runbook. One that several pages have runs once. */
function commands(): readonly Command[] {
  const found = new Map<string, Command>()
  for (const page of readdirSync(join(ROOT, RUNBOOK))) {
    for (const { language, text, before: line } of blocksOf(textOf(`${RUNBOOK}/${page}`))) {
      const kind = /^<!-- run: (\w+) -->$/.exec(line)?.[1] ?? ''
      assert.ok(language === 'sh' && KINDS.includes(kind), `${page}: a block that no test runs`)
      found.set(text, { kind, text, pages: [...(found.get(text)?.pages ?? []), page] })
    }
  }
  return [...found.values()]
}

const runFile = promisify(execFile)

suite('the commands of the runbook', { skip: skipWithout('promtool', 'curl') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-runbook-'))
  const clock = openSharedClock()
  let service: Service | undefined
  const start = async (name: string): Promise<Service> => {
    const started = await startLocalNode(join(folder, name), NEW_LOG, [TEST_KEY], clock, {
      settings: { judge },
    })
    assert.equal(
      (await postDrafts(started, [{ ref: 'a', type: 'trade', kind: 'buy', kots: '1' }])).status,
      200,
    )
    return started
  }
  before(async () => {
    clock.set(msOf(Date.now()))
    await (await start('stopped'))[Symbol.asyncDispose]()
    service = await start('log')
    writeFileSync(join(folder, 'log', 'publish-token'), `${LOCAL_TOKEN}\n`, { mode: 0o600 })
    // The service reads a page before the runbook does.
    await fetch(`http://127.0.0.1:${service.port}/api/v1/summary`)
  })
  after(async () => {
    await service?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  /** Runs a block as an operator would, on the paths and ports of this test. */
  async function shell({ kind, text }: Command): Promise<string> {
    const script = text
      .replaceAll('/var/lib/daybook/log', join(folder, kind === 'stopped' ? 'stopped' : 'log'))
      .replaceAll('/var/lib/daybook/', `${folder}/`)
      .replaceAll('/etc/daybook/', `${folder}/`)
      .replaceAll(' \\\n ', '')
      .replaceAll('runuser -u daybook -- ', '')
      .replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${service?.port}`)
      .replaceAll('http://127.0.0.1:8081', `http://127.0.0.1:${service?.publishPort}`)
    if (script.startsWith('daybook ')) {
      const { code, stdout, stderr } = await run(script.split(' ').slice(1))
      assert.ok(code === 0 || (kind === 'doctor' && code === 1), stdout + stderr)
      return stdout + stderr
    }
    const command = ['-euo', 'pipefail', '-c', script]
    const { stdout, stderr } = await runFile('bash', command, { cwd: ROOT, timeout: BLOCK_MS_MAX })
    return stdout + stderr
  }

  for (const command of commands()) {
    test(`run and print something: ${command.text.split('\n')[0]} (${command.pages.join(', ')})`, async () => {
      const said = await shell(command)
      assert.ok(said.trim() !== '')
      assert.ok(!said.includes('/api/problems/'), said)
    })
  }
})
