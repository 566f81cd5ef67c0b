import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { publishInput } from '../../src/command/publish/publish-input.ts'
import { openPublishAccess } from '../../src/command/publish/publish-client.ts'
import { run, contextOf } from '../stage/command-stage.ts'
import { type InputStage, openInputStage } from './input-stage.ts'
import { until } from '../processes/other-program.ts'

let stage: InputStage

before(async () => {
  stage = await openInputStage()
})
after(() => stage?.[Symbol.asyncDispose]())

/** Publishes an input to the publish API of the service, with what the command says. */
function publishing<Input extends Readable>({
  publishUrl = stage.service.publishUrl,
  input,
}: Readonly<{ publishUrl?: string; input: Input }>) {
  const stop = new AbortController()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const said = { out: '', err: '' }
  stdout.setEncoding('utf8').on('data', (part: string) => (said.out += part))
  stderr.setEncoding('utf8').on('data', (part: string) => (said.err += part))
  const context = contextOf({ stdout, stderr, stop: stop.signal })
  const ended = publishInput(
    input,
    'standard input',
    openPublishAccess(publishUrl, stage.tokenFile, context),
    context,
  )
  return { input, said, ended, stop }
}

suite('an input of publish', () => {
  test('is published as its lines arrive, and counts at its end what was new and what was there', async () => {
    const { input, said, ended } = publishing({ input: new PassThrough() })
    const first = stage.line()
    input.write(first)
    await stage.published()
    input.write(`${stage.line()}\n${first}${stage.line()}`)
    await stage.published()
    input.end(stage.line().trimEnd())
    assert.equal(await ended, 0)
    await stage.published()
    assert.deepEqual(said, { out: '4 published, 1 duplicate skipped, 0 held\n', err: '' })
  })

  test('waits for a publish API that is away, and says so', async () => {
    const { input, said, ended, stop } = publishing({
      publishUrl: 'http://127.0.0.1:9',
      input: new PassThrough(),
    })
    input.write(stage.line())
    stage.forgetLine()
    await until('it waits', async () => said.err.includes('cannot be reached; trying again'))
    stop.abort()
    await assert.rejects(ended, { message: /^stopped after line 0; .* send the input again/, exitCode: 1 })
    assert.equal(said.out, '0 published, 0 duplicates skipped, 0 held\n')
  })

  test('names a refused line, after those before it are published', async () => {
    const { input, said, ended } = publishing({ input: new PassThrough() })
    input.write(`${stage.line()}{"ref":"bad","type":"treasury","kind":"deposit","kots":1}\n${stage.line()}`)
    stage.forgetLine()
    assert.equal(await ended, 1)
    assert.match(said.err, /^standard input, line 2, kots: must be a string/)
    assert.equal(said.out, '1 published, 0 duplicates skipped, 0 held\n')
    await stage.published()
  })

  test('ends with its error when it cannot be read, after the lines that came', async () => {
    const { input, ended } = publishing({ input: new PassThrough() })
    input.write(stage.line())
    await stage.published()
    input.write(`${stage.line()}${stage.line().slice(0, 20)}`)
    stage.forgetLine()
    await new Promise(setImmediate)
    input.destroy(Object.assign(new Error('read EIO'), { code: 'EIO', errno: -5, syscall: 'read' }))
    await assert.rejects(ended, { message: 'standard input cannot be read: i/o error', exitCode: 1 })
    await stage.published()
  })

  test('stops at a line that is not UTF-8, after the lines before it', async () => {
    const { input, ended } = publishing({ input: new PassThrough() })
    input.write(stage.line() + stage.line())
    input.write(Uint8Array.of(0x22, 0xe9, 0x22, 10))
    await assert.rejects(ended, { message: 'line 3 is not UTF-8', exitCode: 1 })
    await stage.published()
  })

  test('has no end of its own as a named pipe either, and is published as it comes', async () => {
    const pipe = join(stage.folder, 'pipe')
    const words = ['--to', stage.service.publishUrl, '--token-file', stage.tokenFile]
    const writer = spawn('sh', ['-c', 'mkfifo "$0" && echo made && exec cat > "$0"', pipe])
    await new Promise((resolve) => writer.stdout.once('data', resolve))
    const ended = run(['publish', pipe, ...words])
    writer.stdin.write(stage.line())
    await stage.published()
    writer.stdin.end(stage.line())
    assert.equal((await ended).stdout, '2 published, 0 duplicates skipped, 0 held\n')
    await stage.published()
  })

  test('may be a growing file that tail follows, also when the file is rotated and the pipe starts again', async (context) => {
    const file = join(stage.folder, 'drafts.jsonl')
    const begin = (): (() => Promise<string>) => {
      const tail = spawn('tail', ['-n', '+1', '-F', file], { stdio: ['ignore', 'pipe', 'ignore'] })
      context.after(() => tail.kill())
      const { said, ended } = publishing({ input: tail.stdout })
      return async () => {
        tail.kill()
        assert.equal(await ended, 0)
        return said.out
      }
    }
    writeFileSync(file, stage.line() + stage.line())
    const endFirst = begin()
    await stage.published()
    appendFileSync(file, stage.line())
    renameSync(file, `${file}.1`)
    writeFileSync(file, stage.line())
    await stage.published()
    appendFileSync(file, stage.line())
    await stage.published()
    assert.match(await endFirst(), /^5 published, 0 duplicates skipped, 0 held$/m)
    appendFileSync(file, stage.line())
    const endSecond = begin()
    await stage.published()
    assert.match(await endSecond(), /^1 published, 2 duplicates skipped, 0 held$/m)
    // tail does not read what a writer puts into the renamed file.
    appendFileSync(`${file}.1`, stage.line())
    const { stdout } = await run([
      'publish',
      `${file}.1`,
      '--to',
      stage.service.publishUrl,
      '--token-file',
      stage.tokenFile,
    ])
    assert.equal(stdout, '1 published, 3 duplicates skipped, 0 held\n')
    await stage.published()
  })
})
