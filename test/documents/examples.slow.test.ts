import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { fetchDescribed } from '../stage/described.ts'
import { blocksOf, textOf } from '../stage/document.ts'
import { type Service, startService } from '../stage/service.ts'
import { ROOT, SAMPLE } from '../stage/places.ts'

const BLOCK_MS_MAX = 60_000

const COMMAND = `'${process.execPath}' '${join(ROOT, 'src', 'main.ts')}'`
const START = (JSON.parse(textOf('package.json')) as { scripts: { start: string } }).scripts.start

const run = promisify(execFile)

/** Documents whose shell blocks run here, and the kinds of blocks in each. */
const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['start', 'sample'],
  'docs/errors.md': ['sample'],
  'docs/reading.md': ['sample'],
  'docs/publishing.md': ['import', 'serve', 'own'],
}

/** A shell block after `<!-- run: KIND -->`; `beside` is the kind, which says what the block needs. */
type ShellBlock = Readonly<{ beside: string; text: string; at: number }>

function shellBlocksOf(document: string): readonly ShellBlock[] {
  return blocksOf(textOf(document)).flatMap(({ language, text, before: line, line: at }) => {
    const beside = /^<!-- run: (\w+) -->$/.exec(line)?.[1]
    return language === 'sh' && beside !== undefined ? [{ beside, text, at }] : []
  })
}

suite('the examples', () => {
  let folder = ''
  let sample: Service | undefined
  let own: Service | undefined
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'daybook-examples-'))
    sample = await startService({ drafts: SAMPLE })
  })
  after(async () => {
    await sample?.[Symbol.asyncDispose]()
    await own?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  /** A service with the history that an earlier block has written. */
  async function serveOwn(): Promise<Service> {
    own ??= await startService({ drafts: join(folder, 'history.jsonl'), chain: 'opaque' })
    await writeFile(join(folder, 'data', 'publish-token'), `${own.token}\n`)
    return own
  }

  /** Runs a block as a reader would, in its own folder, with the test's addresses. */
  async function shell(text: string, service: Service | undefined): Promise<string> {
    const script = text
      .replaceAll('npm run -s daybook --', COMMAND)
      .replaceAll('http://127.0.0.1:8080', service?.url ?? '')
      .replaceAll('http://127.0.0.1:8081', service?.publishUrl ?? '')
    const options = { cwd: folder, timeout: BLOCK_MS_MAX, maxBuffer: 64 * 1024 * 1024 }
    const { stdout, stderr } = await run('bash', ['-euc', script], options)
    return stdout + stderr
  }

  /** Runs an endless block on free ports, and sends it one request. */
  async function serving(text: string): Promise<void> {
    const script = text.replace('npm ci\nnpm start', START.replace('node src/main.ts', COMMAND))
    const words = ['-euc', `exec ${script.replace('npm run -s daybook --', COMMAND)}`]
    const env = { ...process.env, DAYBOOK_PORT: '0', DAYBOOK_PUBLISH_PORT: '0' }
    const child = spawn('bash', words, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
    const closed = once(child, 'close')
    const late = setTimeout(() => child.kill('SIGKILL'), BLOCK_MS_MAX)
    let url = ''
    for await (const line of createInterface({ input: child.stderr })) {
      url = /listening on (http:\S+)/.exec(line)?.[1] ?? url
      if (url === '') continue
      const answer = await fetchDescribed(`${url}/api/v1/summary`)
      assert.equal(answer.status, 200)
      break
    }
    child.kill('SIGTERM')
    assert.deepEqual(await closed, [0, null])
    clearTimeout(late)
    assert.notEqual(url, '', 'it listens')
  }

  for (const [document, kinds] of Object.entries(DOCUMENTS)) {
    const blocks = shellBlocksOf(document)

    test(`of ${document} have the expected kinds`, () => {
      assert.deepEqual(new Set(blocks.map(({ beside }) => beside)), new Set(kinds))
      const all = blocksOf(textOf(document)).filter(({ language }) => language === 'sh')
      assert.equal(all.length, blocks.length)
    })

    for (const { beside, text, at } of blocks) {
      test(`of ${document}, line ${at}, run: ${text.split('\n')[0]}`, async () => {
        if (beside === 'start' || beside === 'serve') return serving(text)
        const service = beside === 'own' ? await serveOwn() : sample
        const said = await shell(text, service)
        assert.ok(said.length > 0, 'it prints something')
        assert.ok(!said.includes('/api/problems/'), said)
        if (beside === 'own') {
          assert.match(said, /^4 published, 0 duplicates skipped/m)
          assert.match(said, /^0 published, 4 duplicates skipped/m)
          assert.match(said, /"payouts":\[\{"seq":8,/)
        }
        if (text.includes('/stream')) {
          assert.match(said, /\{"position":\{"seq":2187,"head":2187,"live":true,/)
        }
        if (text.includes('sha256sum')) assert.match(said, /^2026-07\.jsonl\.gz: OK\n509\n/)
        if (text.includes(' export '))
          assert.match(said, /^seq,type,kind,at,atMs,contestId,kots,tx\r?\n\d+,payout,/)
      })
    }
  }

  test('import the shown history', async () => {
    const history = await readFile(join(folder, 'history.jsonl'), 'utf8')
    assert.equal(history.trim().split('\n').length, 4)
  })
})
