import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { skipWithout } from '../../processes/test-needs.ts'
import { openCampaign } from '../campaign.ts'
import { answersOf, type RawAnswer, readAnswers } from './raw-answers.ts'
import { LAST_REQUEST, openRawCases, type RawCase } from './raw-mutations.ts'
import { openRawPair, type RawPair, type Reading } from './raw-pair.ts'

const CAMPAIGN = openCampaign('raw-requests')
/** Connections at a time. Many of them wait for the limits of their servers. */
const LANES = 48
/** Growth of this process at most: the service and the campaign. */
const GROWTH_BYTES_MAX = 300 * 1024 * 1024

/** Requests that one server read on a connection, and its answers. */
type Outcome = Readonly<{ readings: readonly Reading[]; answers: readonly RawAnswer[] }>

suite(`${CAMPAIGN.size} connections with mutated requests`, { skip: skipWithout('nginx') }, () => {
  let pair: RawPair
  before(async () => {
    pair = await openRawPair()
  })
  after(() => pair?.[Symbol.asyncDispose]())

  test(
    'are read alike by the service and by nginx, and answered whole, within the limits',
    { timeout: 600_000 + CAMPAIGN.size * 200 },
    async (t) => {
      const next = openRawCases(CAMPAIGN.random)
      const seen = {
        connections: 0,
        mutated: 0,
        requests: 0,
        refused: 0,
        accepted: 0,
        compared: 0,
        whole: 0,
        slow: 0,
      }
      const kinds = new Set<string>()
      const one = async ({ bytes, mutations }: RawCase): Promise<void> => {
        const all = Buffer.concat([bytes, Buffer.from(LAST_REQUEST)])
        const [direct, proxied] = await Promise.all([pair.toService(all), pair.toNginx(all)])
        assert.ok(!direct.late, 'the service closes each connection within its limits')
        const service: Outcome = {
          readings: direct.readings,
          answers: readAnswers(
            direct.bytes,
            direct.readings.map(({ method }) => method),
          ),
        }
        assertOwn(service)
        assert.deepEqual(
          proxied.behind,
          proxied.readings,
          'the service reads what nginx forwards as nginx read it',
        )
        seen.connections += 1
        seen.mutated += mutations.length > 0 ? 1 : 0
        for (const kind of mutations) kinds.add(kind)
        seen.requests += service.readings.length
        seen.refused += service.answers.some(({ status }) => status === 400) ? 1 : 0
        seen.accepted += acceptedOf(service).length
        seen.slow += direct.closedMs > 3_000 ? 1 : 0
        seen.compared += assertAlike(service, proxied)
        seen.whole += service.readings.length === proxied.readings.length ? 1 : 0
      }
      let number = 0
      const rss = process.memoryUsage.rss()
      const lane = async (): Promise<void> => {
        while (number < CAMPAIGN.size) {
          number += 1
          if (number % 10_000 === 0) t.diagnostic(`${number} connections`)
          const [own, made] = [number, next()]
          await one(made).catch((cause: unknown) => {
            const bytes = JSON.stringify(made.bytes.toString('latin1').slice(0, 4_000))
            throw new Error(
              `connection ${own} of seed ${CAMPAIGN.seed}: ${made.mutations.join(', ')}: ${bytes}`,
              { cause },
            )
          })
        }
      }
      await Promise.all(Array.from({ length: LANES }, lane))
      const grown = process.memoryUsage.rss() - rss
      assert.ok(grown < GROWTH_BYTES_MAX, `${Math.round(grown / 1e6)} MB more than before`)
      assert.equal((await pair.stage.get('/api/v1/status')).status, 200)
      assert.deepEqual(pair.stage.reported, [], 'no request broke the service')
      const share = (percent: number): number => Math.floor((CAMPAIGN.size * percent) / 100)
      CAMPAIGN.finish(
        t,
        { ...seen, kindsOfMutation: kinds.size },
        {
          connections: CAMPAIGN.size,
          mutated: share(60),
          refused: share(20),
          accepted: share(40),
          compared: share(30),
          whole: share(20),
          kindsOfMutation: 19,
        },
      )
    },
  )
})

/** Asserts that each answer is ours: open to every site, no failure, and not more of them than requests. */
function assertOwn({ readings, answers }: Outcome): void {
  assert.ok(answers.length <= readings.length + 1, 'at most one answer beside those of requests')
  for (const { status, headers } of answers) {
    assert.ok(status < 500, `status ${status}`)
    assert.equal(headers.get('access-control-allow-origin'), '*', `${status} is open to every site`)
  }
}

/** Requests that the service answered other than by refusing their form. */
const acceptedOf = ({ readings, answers }: Outcome): readonly Reading[] =>
  readings.filter((_, at) => {
    const answer = answers[at]
    return answer !== undefined && (answer.status < 400 || !answer.closes)
  })

/** Asserts that both read the same requests, as far as neither refused. Returns the number of compared requests. */
function assertAlike(
  service: Outcome,
  { readings, bytes }: Readonly<{ readings: readonly Reading[]; bytes: Buffer }>,
): number {
  const answers = answersOf(bytes)
  // Behind the first refusal of nginx, or of the service's parser behind it, its readings belong to no known answer.
  const refusal = answers.findIndex(({ headers }) => !headers.has('daybook-log'))
  const read = refusal < 0 ? readings : readings.slice(0, refusal)
  const accepted = acceptedOf(service)
  const both = Math.min(accepted.length, read.length)
  assert.deepEqual(read.slice(0, both), accepted.slice(0, both), 'both read the same requests')
  if (accepted.length > read.length)
    assert.ok(refuses(answers[refusal] ?? answers.at(-1)), 'nginx takes no request for a part of another')
  // Behind broken syntax the service closes without a word when earlier requests have their answers.
  if (read.length > service.readings.length)
    assert.notEqual(service.answers.at(-1)?.status, 408, 'the service takes no request for a part of another')
  return both
}

/** Whether the last answer ends a connection: a refusal, or the answer to a request that asked for it. */
function refuses(last: RawAnswer | undefined): boolean {
  return last !== undefined && (last.closes || last.status >= 400) && last.status !== 408
}
