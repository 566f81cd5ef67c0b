import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { suite, test } from 'node:test'
import { openApiStage } from '../../../test/stage/api-stage.ts'
import { getRequest } from '../../../test/stage/raw-request.ts'
import { allocateCallerSlots, openCallerSlots } from './caller-slots.ts'

const PER_CALLER = 3

async function openStage(proxy = false) {
  const slots = openCallerSlots(allocateCallerSlots({ perCaller: PER_CALLER, perNode: 100 }, 'test'))
  const addressOf = ({ remoteAddress = '' }: Socket): string | null => (proxy ? null : remoteAddress)
  const stage = await openApiStage({ server: { connections: { slots, addressOf } } })
  const open = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port: stage.port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  return { stage, slots, open }
}

async function ask(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  socket.write(getRequest('/api/v1/summary'))
  await once(socket, 'close')
  return text
}

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !holds(); turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.ok(holds(), 'within five seconds')
}

suite('the connections of one address', () => {
  test('are limited: one more gets a problem with CORS headers, runs no request, and is closed', async () => {
    const { stage, slots, open } = await openStage()
    await using _ = stage
    const held = await Promise.all([open(), open(), open()])
    await until(() => slots.open() === PER_CALLER)
    const refused = await ask(await open())
    assert.match(refused, /^HTTP\/1\.1 429 /)
    assert.match(refused, /\r\nAccess-Control-Allow-Origin: \*\r\n/)
    assert.match(refused, /"code":"too-many-connections"/)
    assert.match(await ask(await open('127.0.0.2')), /^HTTP\/1\.1 200 /)
    held[0]?.destroy()
    await until(() => slots.open() === PER_CALLER - 1)
    assert.match(await ask(await open()), /^HTTP\/1\.1 200 /)
    for (const socket of held) socket.destroy()
    await until(() => slots.open() === 0)
    const counted = /^daybook_http_requests_total\{.*\} (\d+)$/gm
    const counts = [...(await stage.metrics.metrics()).matchAll(counted)].map(([, count]) => Number(count))
    assert.deepEqual(counts, [2], 'only the two that were answered')
    assert.deepEqual(stage.reported, [])
  })

  test('are refused with a problem, however many have been refused before', async () => {
    const { stage, slots, open } = await openStage()
    await using _ = stage
    const held = await Promise.all([open(), open(), open()])
    await until(() => slots.open() === PER_CALLER)
    for (let round = 0; round < 9; round += 1) {
      const refused = await Promise.all(Array.from({ length: 32 }, async () => ask(await open())))
      assert.ok(refused.every((text) => text.startsWith('HTTP/1.1 429 ')))
    }
    for (const socket of held) socket.destroy()
  })

  test('are not limited for a trusted proxy', async () => {
    const { stage, open } = await openStage(true)
    await using _ = stage
    const held = await Promise.all(Array.from({ length: 10 }, () => open()))
    assert.match(await ask(await open()), /^HTTP\/1\.1 200 /)
    for (const socket of held) socket.destroy()
  })
})
