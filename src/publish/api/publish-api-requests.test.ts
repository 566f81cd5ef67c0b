import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  assertRefused,
  PUBLISH_TOKEN,
  type PublishStage,
  lines,
  NDJSON,
  NEXT_TOKEN,
  openPublishStage,
  receipts,
  trade,
} from '../../../test/stage/publish-stage.ts'
import { sendRaw } from '../../../test/stage/raw-request.ts'
import { DRAFTS_MAX, PUBLISH_BYTES_MAX } from '../../protocol/draft.ts'
import { WRONG_TOKEN_MS, WRONG_TOKENS_FREE, WRONG_WAIT_MS_MAX } from './token-guard.ts'

const AUTHORIZED = `Authorization: Bearer ${PUBLISH_TOKEN}`

/** Sends a request as raw bytes, over a connection of its own. */
async function raw(
  stage: PublishStage,
  target: string,
  headers: readonly string[],
  body = '[]',
): Promise<string> {
  const head = [`POST ${target} HTTP/1.1`, 'Host: publish.test', 'Connection: close', ...headers]
  const { text } = await sendRaw(stage.port(), [...head, '', body].join('\r\n'))
  return text
}

suite('a token', () => {
  const refused = [
    ['none', undefined],
    ['an empty one', 'Bearer '],
    ['a wrong one', `Bearer ${'x'.repeat(PUBLISH_TOKEN.length)}`],
    ['the beginning of the right one', `Bearer ${PUBLISH_TOKEN.slice(0, -1)}`],
    ['more than the right one', `Bearer ${PUBLISH_TOKEN}x`],
    ['another scheme', `Basic ${PUBLISH_TOKEN}`],
    ['no scheme', PUBLISH_TOKEN],
    ['two of them', `Bearer ${PUBLISH_TOKEN}, Bearer ${PUBLISH_TOKEN}`],
  ] as const

  test('gets 401 with one constant body when it is wrong', async () => {
    await using stage = await openPublishStage()
    const bodies = new Set<string>()
    for (const [name, authorization] of refused) {
      const answered = await stage.publish([trade('a')], { authorization })
      assert.equal(answered.status, 401, name)
      assert.equal(answered.headers.get('www-authenticate'), 'Bearer')
      bodies.add(answered.text)
    }
    assert.equal(bodies.size, 1)
    assert.equal(stage.head(), 0)
  })

  test('may have the name of its scheme in any case', async () => {
    await using stage = await openPublishStage()
    for (const [index, scheme] of ['bearer', 'BEARER', 'bEaReR', 'Bearer '].entries()) {
      const headers = { authorization: `${scheme} ${PUBLISH_TOKEN}` }
      assert.equal((await stage.publish([trade(`r${index}`)], headers)).status, 200, scheme)
    }
  })

  test('delays its sender when it is wrong too often, and never when it is right', async () => {
    await using stage = await openPublishStage()
    const wrong = { authorization: `Bearer ${'x'.repeat(PUBLISH_TOKEN.length)}` }
    for (let count = 0; count < WRONG_TOKENS_FREE; count++) await stage.publish([], wrong)
    assert.deepEqual(stage.pauses, [])
    assertRefused(await stage.publish([], wrong), 401, 'unauthorized')
    assertRefused(await stage.publish([], wrong), 401, 'unauthorized')
    assert.deepEqual(stage.pauses, [WRONG_TOKEN_MS, 2 * WRONG_TOKEN_MS])
    assert.equal((await stage.publish([trade('a')])).status, 200)
    assert.equal(stage.pauses.length, 2)
    for (let ms = stage.pauses.length; ms * WRONG_TOKEN_MS < WRONG_WAIT_MS_MAX; ms++)
      await stage.publish([], wrong)
    const last = await stage.publish([], wrong)
    assertRefused(last, 429, 'rate-limited')
    assert.match(last.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    stage.clock((WRONG_TOKENS_FREE + WRONG_WAIT_MS_MAX / WRONG_TOKEN_MS) * WRONG_TOKEN_MS)
    const before = stage.pauses.length
    assertRefused(await stage.publish([], wrong), 401, 'unauthorized')
    assert.equal(stage.pauses.length, before, 'it is forgotten in time')
  })

  test('may be the current or the next one', async () => {
    await using stage = await openPublishStage()
    for (const [index, token] of [PUBLISH_TOKEN, NEXT_TOKEN].entries()) {
      const headers = { authorization: `Bearer ${token}` }
      assert.equal((await stage.publish([trade(`r${index}`)], headers)).status, 200)
    }
  })
})

suite('a request', () => {
  test('gets 415 with another content type or a content encoding', async () => {
    await using stage = await openPublishStage()
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonl',
      undefined,
    ]
    for (const type of types) {
      assertRefused(
        await stage.publish(JSON.stringify([trade('a')]), { 'content-type': type }),
        415,
        'unsupported-media-type',
      )
    }
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024, ' '))
    assertRefused(await stage.publish(bomb, { 'content-encoding': 'gzip' }), 415, 'unsupported-media-type')
    assert.equal(stage.head(), 0)
  })

  test('is refused when it is not UTF-8 or begins with a byte order mark', async () => {
    await using stage = await openPublishStage()
    const whole = Buffer.from(JSON.stringify([trade('a')]))
    const line = Buffer.from(JSON.stringify(trade('a')))
    const bad = Buffer.from('"\u00e9"', 'latin1')
    const mark = Buffer.from([0xef, 0xbb, 0xbf])
    const bodies = [
      [Buffer.concat([whole.subarray(0, 9), bad, whole.subarray(9)])],
      [Buffer.from(JSON.stringify([trade('a')]), 'utf16le')],
      [Buffer.concat([mark, whole])],
      [Buffer.concat([mark, line]), NDJSON],
      [Buffer.concat([line, Buffer.from('\n'), mark]), NDJSON],
      [mark, NDJSON],
    ] as const
    for (const [body, headers] of bodies) {
      assertRefused(await stage.publish(body, headers), 400, 'invalid-draft')
    }
    assert.equal(stage.head(), 0)
  })

  test('is refused when it is no array of drafts', async () => {
    await using stage = await openPublishStage()
    const bodies = [
      '',
      'null',
      '{}',
      '1',
      '"x"',
      '[',
      '[]]',
      '[1]',
      '[null]',
      '[[]]',
      '[{"ref":"a"}',
      JSON.stringify(trade('a')),
    ]
    for (const body of bodies) assertRefused(await stage.publish(body), 400, 'invalid-draft')
    const deep = `[{"ref":"a","details":${'['.repeat(1_000_000)}`
    const hostile = [
      deep,
      '[{"ref":"a","type":"trade","kind":"buy","kots":"1","kots":"2"}]',
      '[{"ref":"a","type":"trade","kind":"buy","kots":"1","__proto__":{"polluted":1}}]',
      '[{"ref":"a","type":"trade","kind":"buy","kots":"1","constructor":{}}]',
      '[{"ref":"a","type":"play","kind":"entry","contestId":9007199254740993,"kots":"1"}]',
      '[{"ref":"a","type":"play","kind":"entry","contestId":1e3,"kots":"1"}]',
      '[{"ref":"a","type":"trade","kind":"buy","kots":NaN}]',
      '[{"ref":"a\\u0000","type":"trade","kind":"buy","kots":"1"}]',
      '[{"ref":"a\\ud800","type":"trade","kind":"buy","kots":"1"}]',
    ]
    for (const body of hostile) assertRefused(await stage.publish(body), 400, 'invalid-draft')
    assert.equal(Reflect.get({}, 'polluted'), undefined)
    assert.equal(stage.head(), 0)
  })

  test('gets 405 for another method and 404 elsewhere, both without a token', async () => {
    await using stage = await openPublishStage()
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answered = await stage.publish([trade('a')], { authorization: undefined }, method)
      assert.equal(answered.status, 405, method)
      assert.equal(answered.headers.get('allow'), 'POST')
    }
    for (const target of ['/', '/publish/', '/Publish', '//publish', '/api/v1/events']) {
      assert.match(await raw(stage, target, [AUTHORIZED, 'Content-Length: 2']), /^HTTP\/1\.1 404 /, target)
    }
    assert.match(await raw(stage, '/livez', ['Content-Length: 2']), /^HTTP\/1\.1 200 /)
    assert.equal(stage.head(), 0)
  })
})

suite('a token in another place', () => {
  test('is not accepted: in the query, or in two headers', async () => {
    await using stage = await openPublishStage()
    const json = ['Content-Type: application/json', 'Content-Length: 2']
    const tries = [
      await raw(stage, `/publish?token=${PUBLISH_TOKEN}`, json),
      await raw(stage, `/publish?access_token=${PUBLISH_TOKEN}`, json),
      await raw(stage, '/publish', [...json, AUTHORIZED, AUTHORIZED]),
      await raw(stage, '/publish', [...json, `Cookie: token=${PUBLISH_TOKEN}`]),
    ]
    const constant = await raw(stage, '/publish', json)
    assert.match(constant, /^HTTP\/1\.1 401 /)
    const bare = (text: string): string => text.replace(/^(?:Date|daybook-request): .*$/gim, '')
    for (const text of tries) assert.equal(bare(text), bare(constant))
    assert.match(await raw(stage, '/publish?dry=1', [...json, AUTHORIZED]), /^HTTP\/1\.1 400 /)
    assert.match(await raw(stage, '/publish', [...json, AUTHORIZED]), /^HTTP\/1\.1 200 /)
  })
})

suite(`a request of ${DRAFTS_MAX} drafts`, () => {
  const many = (stage: PublishStage, count: number, headers = {}) => {
    const drafts = Array.from({ length: count }, (_, index) => trade(`r${index}`))
    return stage.publish('content-type' in headers ? lines(drafts) : drafts, headers)
  }

  test('is accepted, and one draft more gets 413', async () => {
    await using stage = await openPublishStage()
    for (const headers of [{}, NDJSON]) {
      assertRefused(await many(stage, DRAFTS_MAX + 1, headers), 413, 'too-large')
      assert.equal(stage.head(), 0)
    }
    assert.equal(receipts(await many(stage, DRAFTS_MAX)).length, DRAFTS_MAX)
    assert.equal(stage.head(), DRAFTS_MAX)
    assert.equal(receipts(await many(stage, DRAFTS_MAX, NDJSON)).at(-1)?.[1], 'duplicate')
  })
})

suite(`a request of ${PUBLISH_BYTES_MAX} bytes`, () => {
  const body = (bytes: number): string => JSON.stringify([trade('a')]).padEnd(bytes, ' ')

  test('is accepted, and one byte more gets 413, which its sender receives', async () => {
    await using stage = await openPublishStage()
    // Repeated, because an answer that races against the rest of the body would be lost only sometimes.
    for (let times = 0; times < 5; times += 1) {
      const long = await stage.publish(body(PUBLISH_BYTES_MAX + 1 + times * 1_000_000))
      assertRefused(long, 413, 'too-large')
      assert.equal(long.headers.get('connection'), 'close')
    }
    assert.equal(stage.head(), 0)
    assert.deepEqual(receipts(await stage.publish(body(PUBLISH_BYTES_MAX))), [['a', 'published', 1]])
  })

  test('gets 413 at the limit without a content length too, and the connection is closed', async () => {
    await using stage = await openPublishStage()
    const answered = await new Promise<Readonly<{ status: number | undefined; sent: number }>>(
      (resolve, reject) => {
        let sent = 0
        const chunk = Buffer.alloc(65_536, ' ')
        const headers = { authorization: `Bearer ${PUBLISH_TOKEN}`, 'content-type': 'application/json' }
        const sending = request({
          port: stage.port(),
          host: '127.0.0.1',
          path: '/publish',
          method: 'POST',
          headers,
        })
        let status: number | undefined
        const endless = (): void => {
          while (!sending.destroyed && sending.write(chunk)) sent += chunk.length
        }
        sending.on('drain', endless)
        sending.on('response', (response) => {
          status = response.statusCode
          response.resume()
        })
        sending.on('error', (error) => (status === undefined ? reject(error) : undefined))
        sending.on('close', () => resolve({ status, sent }))
        endless()
      },
    )
    assert.equal(answered.status, 413)
    assert.ok(answered.sent < 8 * PUBLISH_BYTES_MAX, `${answered.sent} bytes were taken`)
    assert.equal(stage.head(), 0)
  })

  test('is not published when its sender disconnects before its end', async () => {
    await using stage = await openPublishStage()
    const draft = JSON.stringify([trade('a')])
    const head = `POST /publish HTTP/1.1\r\nHost: x\r\n${AUTHORIZED}\r\nContent-Type: application/json\r\n`
    const forms = [
      `${head}Content-Length: ${draft.length + 1}\r\n\r\n${draft}`,
      `${head}Transfer-Encoding: chunked\r\n\r\n${draft.length.toString(16)}\r\n${draft}\r\n`,
    ]
    for (const bytes of forms) {
      await new Promise<void>((resolve) => {
        const socket = connect(stage.port(), '127.0.0.1', () => socket.end(bytes))
        socket
          .on('close', () => resolve())
          .on('error', () => undefined)
          .resume()
      })
    }
    assert.equal((await stage.publish([trade('b')])).json.drafts?.[0]?.seq, 1)
  })
})
