import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { followInput } from '../../src/command/outbox/follow-drafts.ts'
import { openDoor } from '../../src/command/operator/publish-door.ts'
import { run, worldOf } from '../stage/command-stage.ts'
import type { FollowStage } from './follow-stage.ts'
import { openFollowStage } from './follow-stage.ts'

let stage: FollowStage

before(async () => {
  stage = await openFollowStage()
})
after(() => stage?.[Symbol.asyncDispose]())

suite('a followed input', () => {
  test('is published as its lines arrive, with a receipt for each on standard output', async () => {
    const [input, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    let receipts = ''
    stdout.setEncoding('utf8').on('data', (text: string) => (receipts += text))
    const world = worldOf({ stdout, stderr })
    const ended = followInput(input, openDoor(stage.service.door, stage.tokenFile, world), world)
    const seq = (await stage.amounts()).length
    input.write(stage.line())
    await stage.published()
    assert.equal(receipts, `{"ref":"follow-${stage.lines()}","status":"published","seq":${seq + 1}}\n`)
    input.write(`${stage.line()}\n${stage.line()}`)
    input.end(stage.line().trimEnd())
    assert.equal(await ended, 0)
    await stage.published()
    assert.equal(receipts.trim().split('\n').length, 4)
    stderr.end()
    assert.equal(String(stderr.read()), '4 published, 0 duplicates skipped, 0 held\n')
  })

  test('ends with its error when it cannot be read, after the lines that came', async () => {
    const [input, stdout] = [new PassThrough(), new PassThrough()]
    const world = worldOf({ stdout })
    const ended = followInput(input, openDoor(stage.service.door, stage.tokenFile, world), world)
    input.write(stage.line())
    await stage.published()
    input.write(`${stage.line()}${stage.line().slice(0, 20)}`)
    stage.forgetLine()
    await sleep(0)
    input.destroy(Object.assign(new Error('read EIO'), { code: 'EIO', errno: -5, syscall: 'read' }))
    await assert.rejects(ended, { message: 'standard input cannot be read: i/o error', exitCode: 1 })
    await stage.published()
  })

  test('stops at a line that is not UTF-8, after the lines before it', async () => {
    const [input, stdout] = [new PassThrough(), new PassThrough()]
    const world = worldOf({ stdout })
    const ended = followInput(input, openDoor(stage.service.door, stage.tokenFile, world), world)
    input.write(stage.line() + stage.line())
    input.write(Uint8Array.of(0x22, 0xe9, 0x22, 10))
    await assert.rejects(ended, { message: 'line 3 is not UTF-8', exitCode: 1 })
    await stage.published()
  })

  test('has no place to keep', async () => {
    const words = [
      'publish',
      '--follow',
      '-',
      '--cursor',
      'x',
      '--to',
      stage.service.door,
      '--token-file',
      stage.tokenFile,
    ]
    assert.equal((await run(words)).code, 2)
  })
})
