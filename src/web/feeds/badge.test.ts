import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { badgeOf } from './badge.ts'

let stage: ApiStage
before(async () => {
  stage = await openApiStage()
})
after(() => stage[Symbol.asyncDispose]())

suite('a badge', () => {
  const contest = (prizesRedeemed: string, prizesOwed: string, ...notRedeemed: readonly string[]): never =>
    ({
      contest: {
        id: 42,
        status: 'paying',
        outcome: null,
        prizesRedeemed,
        prizesExpired: nothing,
        prizesOwed,
      },
      pool: { out: {} },
      prizes: notRedeemed.map((one) => ({ notRedeemed: one })),
    }) as never
  const nothing = '0.000000000'
  const unwon = (
    status: string,
    out: Readonly<Record<string, string>>,
    balance = nothing,
    outcome: string | null = null,
  ): string => {
    const figures = { prizesRedeemed: nothing, prizesExpired: nothing, prizesOwed: nothing }
    const ledger = { contest: { id: 42, status, outcome, ...figures }, pool: { out, balance }, prizes: [] }
    return badgeOf(ledger as never, REAL).markup
  }
  const REAL = { token: 'KOTS', simulated: false }

  test('shows the paid part of the owed prizes, from the ledger', async () => {
    const response = await stage.get('/contests/1.svg')
    assert.equal(response.headers.get('content-type'), 'image/svg+xml')
    assert.match(await response.text(), />simulated contest 1<\/text>[^]*>paid 15 \/ 100 KOTS<\/text>/)
    assert.equal((await stage.get('/contests/99.svg')).status, 404)
  })

  test('cuts off decimals and groups thousands', () => {
    assert.match(
      badgeOf(contest('1204.900000000', '1204.900000000', '0.000000000'), REAL).markup,
      />contest 42<[^]*>paid 1,204 \/ 1,204 KOTS</,
    )
  })

  test('shows every digit if cutting would hide an unpaid part', () => {
    const { markup } = badgeOf(contest('1204.100000000', '1204.900000000', '0.800000000'), REAL)
    assert.match(markup, />paid 1204\.100000000 \/ 1204\.900000000 KOTS</)
  })

  test('shows what was paid of a prize that a correction cancelled', () => {
    const { markup } = badgeOf(contest('60.000000000', '0.000000000', '-60.000000000'), REAL)
    assert.match(markup, />paid 60 \/ 0 KOTS</)
    assert.match(markup, /<title>Contest 42: paid 60\.000000000 of 0\.000000000 KOTS</)
    assert.doesNotMatch(markup, /fill="#1b6a45"/)
  })

  test('says what has expired', () => {
    const ledger = {
      contest: {
        id: 42,
        status: 'paid',
        outcome: 'lapsed',
        prizesRedeemed: '30.000000000',
        prizesExpired: '70.500000000',
        prizesOwed: '100.500000000',
      },
      pool: { out: {} },
      prizes: [{ notRedeemed: nothing }],
    }
    const { markup } = badgeOf(ledger as never, REAL)
    assert.match(
      markup,
      /<title>Contest 42: paid 30\.000000000 of 100\.500000000 KOTS, 70\.500000000 expired</,
    )
    assert.match(markup, />paid 30 \/ 100 KOTS, 70\.50 expired</)
  })

  test('is not that of a paid contest when more was paid of one prize and another is open', () => {
    const { markup } = badgeOf(contest('50.000000000', '50.000000000', '-50.000000000', '50.000000000'), REAL)
    assert.match(markup, /<title>Contest 42: 50\.000000000 KOTS unpaid<[^]*>50\.00 KOTS unpaid<\/text>/)
    assert.doesNotMatch(markup, /fill="#1b6a45"|>paid /)
  })

  test('says that nothing was won', () => {
    assert.match(unwon('running', {}), />nothing won yet</)
    assert.match(unwon('paying', {}, '50.000000000'), />nothing won yet</)
    assert.match(unwon('paying', {}), />nothing was won</)
    assert.match(unwon('paid', {}), />nothing was won</)
    assert.match(unwon('paying', {}, '50.000000000', 'cancelled'), />cancelled</)
    assert.match(unwon('paid', { refund: '8408.364540235' }), />8,408 KOTS given back</)
  })
})
