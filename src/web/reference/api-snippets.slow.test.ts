import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { skipWithout } from '../../../test/processes/test-needs.ts'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { LAUNCH } from '../../../test/story/api-story.ts'
import { cosignNewest } from '../../../test/story/witnesses.ts'
import { run, start } from '../../../test/stage/command-stage.ts'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { DAY_MS, msOf } from '../../protocol/moment.ts'
import { plain } from '../../../test/web/parity/page-tree.ts'
import { ROOT } from '../../../test/stage/places.ts'

const CLIENT = pathToFileURL(join(ROOT, 'src', 'client', 'index.ts')).href
/** The present of the stage. */
const PRESENT = msOf(LAUNCH + 2 * DAY_MS)

let stage: ApiStage
let folder: string
let page: string
before(async () => {
  stage = await openApiStage({ streams: true })
  await cosignNewest(stage)
  folder = mkdtempSync(join(tmpdir(), 'daybook-reference-'))
  page = await (await stage.get('/api')).text()
})
after(async () => {
  await stage[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** Programs of the reference in a language, by endpoint: the copied text and the shown one. */
function snippetsIn(language: string): ReadonlyMap<string, string> {
  const found = ENDPOINTS.map(({ id }) => {
    const section = new RegExp(`<section aria-labelledby="${id}"[^]*?</section>`).exec(page)?.[0] ?? ''
    const form = new RegExp(
      `<p>${language} <button[^>]* data-copy="([^"]*)"[^]*?<pre[^>]*><code>([^]*?)</code>`,
    )
    const [, copied = '', shown] = form.exec(section) ?? []
    assert.equal(copied, shown, `${id} in ${language}`)
    return [id, plain(copied)] as const
  })
  return new Map(found)
}

const ends = ([id]: readonly [id: string, text: string]): boolean => id !== 'stream'

/** Runs a program that ends, in a folder for its files. */
async function output(program: string, words: readonly string[]): Promise<string> {
  const child = spawn(program, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  let [said, wrong] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (wrong += text))
  await closed
  assert.equal(child.exitCode, 0, `${words.join(' ')}\n${wrong}`)
  return said
}

/** Runs all programs that end in one process, because starting a process is slow. Each prints something. */
function ranAll(said: string): void {
  const parts = said.split(/^ran\n/m)
  assert.equal(parts.length, ENDPOINTS.length)
  for (const part of parts.slice(1)) assert.notEqual(part, '')
}

/** Waits until a program that does not end has printed this, and stops it. */
async function says(child: ChildProcess, words: RegExp): Promise<void> {
  const closed = once(child, 'close')
  let said = ''
  for await (const text of child.stdout ?? []) {
    said += String(text)
    if (words.test(said)) break
  }
  child.kill()
  await closed
  assert.match(said, words)
}

suite('the programs of the reference run', { timeout: 120_000 }, () => {
  test('with curl', { skip: skipWithout('curl') }, async () => {
    const snippets = snippetsIn('curl')
    for (const [id, text] of [...snippets].filter(ends)) {
      const said = await output('sh', ['-c', text.replace(/^curl /, 'curl -f ')])
      const address = /'http:\/\/[^/]+([^']+)'/.exec(text)?.[1] ?? ''
      if (!text.includes(' -O ')) assert.equal(said, await (await stage.get(address)).text(), id)
    }
    await says(spawn('sh', ['-c', `exec ${snippets.get('stream')}`]), /^id: 13\ndata: \{"seq":13,/m)
  })

  test('in TypeScript', async () => {
    const snippets = snippetsIn('TypeScript')
    const paths = [...snippets].map(([id, text]) => {
      const path = join(folder, `${id}.ts`)
      writeFileSync(path, text.replace("'daybook-client'", `'${CLIENT}'`))
      return path
    })
    const streaming = join(folder, 'stream.ts')
    const all = join(folder, 'all.ts')
    const rest = paths.filter((path) => path !== streaming)
    writeFileSync(
      all,
      rest.map((path) => `console.log('ran'); await import('${pathToFileURL(path).href}')`).join('\n'),
    )
    ranAll(await output(process.execPath, [all]))
    await says(spawn(process.execPath, [streaming]), /seq: 13,/)
  })

  test('in Python', { skip: skipWithout('python3') }, async () => {
    const snippets = snippetsIn('Python')
    const rest = [...snippets].filter(ends).map(([id, text]) => {
      writeFileSync(join(folder, `${id}.py`), text)
      return `print("ran"); runpy.run_path(${JSON.stringify(join(folder, `${id}.py`))})`
    })
    ranAll(await output('python3', ['-c', ['import runpy', ...rest].join('\n')]))
    await says(spawn('python3', ['-c', snippets.get('stream') ?? '']), /\{'seq': 13, /)
  })

  test('on the command line', async () => {
    const wordsOf = (text: string): readonly string[] => text.split(' ').slice(1)
    const snippets = snippetsIn('Command line')
    for (const [id, text] of [...snippets].filter(ends)) {
      assert.match(text, /^daybook /)
      // `pull` writes files into the working folder.
      const { code, stdout, stderr } =
        id === 'archiveFile'
          ? await start(wordsOf(text), folder).ended()
          : await run(wordsOf(text), { now: () => PRESENT })
      assert.equal(code, 0, `${text}\n${stderr}`)
      assert.notEqual(`${stdout}${stderr}`, '', id)
    }
    const tail = start(wordsOf(snippets.get('stream') ?? ''))
    await tail.says(/"seq":13,/)
    tail.child.kill('SIGINT')
    assert.equal((await tail.ended()).code, 0)
  })
})
