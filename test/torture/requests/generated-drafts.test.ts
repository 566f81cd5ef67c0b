import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { type ProblemCode, PROBLEMS } from '../../../src/protocol/problem.ts'
import { openPublishStage, trade } from '../../stage/publish-stage.ts'
import { openCampaign } from '../campaign.ts'
import { type PublishRequest, openPublishRequests } from './publish-requests-generator.ts'
import { MARK } from './hostile-values.ts'

const CAMPAIGN = openCampaign('generated-drafts')
const ANSWER_MS_MAX = 60_000
/** Milliseconds of the publish API's clock between two requests, so that wrong tokens are forgotten in time. */
const APART_MS = 100
/** Statuses of the publish API, and of its parser. */
const STATUSES = new Set([200, 400, 401, 404, 405, 409, 413, 415, 417, 422, 429])
const ADDRESS_STATUS = 422

type PublishAnswer = Readonly<{ status: number; head: string; body: string }>

/** Sends a request over a connection of its own, and reads until the publish API closes it. A cut one is left at its end. */
function ask(port: number, { head, body, isCut }: PublishRequest): Promise<PublishAnswer | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    const late = setTimeout(() => {
      socket.destroy()
      reject(new Error(`no answer within ${ANSWER_MS_MAX} ms`))
    }, ANSWER_MS_MAX)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      clearTimeout(late)
      const text = Buffer.concat(chunks)
        .toString()
        .replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
      const [first = '', ...rest] = text.split('\r\n\r\n')
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
      resolve(text === '' ? undefined : { status, head: first, body: rest.join('\r\n\r\n') })
    })
    socket.write(`${head.join('\r\n')}\r\n\r\n`, 'utf8')
    if (isCut) socket.end(body)
    else socket.write(body)
  })
}

type SentDraft = Readonly<{ ref?: string; type: string; kind: string; contestId?: number | null }>
type Receipts = Readonly<{ drafts: readonly Readonly<{ ref: string; status: string; seq: number }>[] }>
type Refusal = Readonly<{
  type: string
  title: string
  status: number
  detail: string
  code: ProblemCode
  errors?: readonly Readonly<{ draft: number; field: string; message: string }>[]
}>

/** Asserts that a refusal is a whole problem, and repeats nothing of its request. */
function assertProblem({ method, secrets }: PublishRequest, { status, head, body }: PublishAnswer): void {
  const lower = `${head}${body}`.toLowerCase()
  for (const secret of [MARK.toLowerCase(), ...secrets])
    assert.ok(!lower.includes(secret), 'repeats what was sent')
  // What the parser of HTTP refuses has no body.
  if (!/\r\ndaybook-log: /i.test(head) || status === 417) return
  assert.match(head, /\r\ndaybook-request: d-/i)
  assert.match(head, /\r\ncache-control: no-store/i)
  assert.match(head, /\r\ncontent-type: application\/problem\+json/i)
  if (method === 'HEAD') return
  const problem = JSON.parse(body) as Refusal
  assert.equal(problem.status, status)
  assert.equal(problem.type, `/api/problems/${problem.code}`)
  assert.equal(problem.title, PROBLEMS[problem.code].title)
  const documented = problem.code === 'address-forbidden' ? ADDRESS_STATUS : PROBLEMS[problem.code].status
  assert.equal(documented, status, problem.code)
  assert.notEqual(problem.detail, '')
  for (const { draft, field, message } of problem.errors ?? [])
    assert.ok(Number.isSafeInteger(draft) && draft >= 0 && field !== '' && message !== '')
}

test(
  'the publish API answers any request as documented, repeats nothing, and publishes whole requests only',
  { timeout: 120_000 + CAMPAIGN.size * 50 },
  async (t) => {
    await using stage = await openPublishStage()
    const next = openPublishRequests(CAMPAIGN.random)
    const published: SentDraft[] = []
    const counts: Record<string, number> = { requests: 0, cut: 0, unanswered: 0, repeated: 0 }
    const add = (name: string, by = 1): void => void (counts[name] = (counts[name] ?? 0) + by)

    /** Asserts that an accepted request is in the log as a whole, from the next seq on. */
    function take({ plain }: PublishRequest, { drafts }: Receipts): void {
      const fresh = drafts.filter(({ status }) => status === 'published')
      assert.ok(drafts.every(({ status }) => status === 'published' || status === 'duplicate'))
      for (const [index, { seq }] of fresh.entries()) assert.equal(seq, published.length + index + 1)
      add('repeated', drafts.length - fresh.length)
      const sent = draftsIn(plain.toString())
      assert.deepEqual(
        drafts.map(({ ref }) => ref),
        sent.map(({ ref }) => ref),
        'each draft has its receipt',
      )
      for (const { ref } of fresh)
        published.push(sent.find((draft) => draft.ref === ref) ?? assert.fail('a draft that was not sent'))
    }

    for (let number = 1; number <= CAMPAIGN.size; number += 1) {
      const request = next()
      stage.clock(number * APART_MS)
      const what = `request ${number} of seed ${CAMPAIGN.seed}: ${request.head.join('; ')}; ${request.body.toString('base64').slice(0, 4_000)}`
      try {
        const answer = await ask(stage.port(), request)
        add('requests')
        if (request.isCut) add('cut')
        if (answer === undefined) add('unanswered')
        else {
          assert.ok(STATUSES.has(answer.status), `status ${answer.status}`)
          add(`status${answer.status}`)
          const isReceipt = answer.status === 200 && answer.body.startsWith('{"drafts":[{"ref"')
          if (answer.status !== 200) assertProblem(request, answer)
          else if (isReceipt) take(request, JSON.parse(answer.body) as Receipts)
        }
        assert.ok(answer !== undefined || request.isCut, 'a whole request has an answer')
        assert.equal(stage.head(), published.length, 'the log has what was acknowledged')
        assert.equal(Reflect.get({}, 'polluted'), undefined)
        assert.deepEqual(stage.failures, [])
      } catch (cause) {
        throw new Error(what, { cause })
      }
    }
    assert.equal((await stage.publish([trade('the last one')])).status, 200, 'the publish API still works')
    const lines = stage.lines().map((line) => JSON.parse(line) as SentDraft)
    for (const [index, sent] of published.entries()) {
      const { type, kind, contestId } = lines[index] ?? assert.fail()
      assert.deepEqual([type, kind, contestId], [sent.type, sent.kind, sent.contestId ?? null])
    }
    const share = (percent: number): number => Math.floor((CAMPAIGN.size * percent) / 100)
    const figures = { ...counts, published: published.length }
    CAMPAIGN.finish(t, figures, {
      requests: CAMPAIGN.size,
      published: share(30),
      repeated: share(0.3),
      cut: share(2),
      status200: share(10),
      status400: share(20),
      status401: share(1),
      status404: share(1),
      status415: share(1),
    })
  },
)

/** The drafts of a body that the publish API has accepted: an array, or lines. */
function draftsIn(text: string): readonly SentDraft[] {
  const isArray = text.trimStart().startsWith('[')
  const parts = isArray ? [text] : text.split('\n').filter((line) => line.trim() !== '')
  return parts.flatMap((part) => JSON.parse(part) as SentDraft | readonly SentDraft[])
}
