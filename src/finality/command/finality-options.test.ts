import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { commandWith } from '../../../test/stage/command-stage.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { FinalitySettings } from '../gate/finality-settings.ts'
import { CommandError } from '../../command/terminal/command-error.ts'
import { finalityOf, type FinalityOptions, SERVE_WITH_FINALITY } from './finality-options.ts'

const KEY = 'a-secret-key-of-a-provider'
const PAYER = 'So11111111111111111111111111111111111111112'
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const EVM_PAYER = `0x${'Ab'.repeat(20)}`

/** The settings that these words of the command line give. */
function settingsOf(words: readonly string[], chain: Chain = 'solana'): FinalitySettings | null {
  const command = commandWith(SERVE_WITH_FINALITY.options)
  command.parse(words, { from: 'user' })
  return finalityOf(command.opts<FinalityOptions>(), chain)
}

/** Asserts that the words are refused with exit code 2 and without repeating what was given. */
function assertRefused(words: readonly string[], reason: RegExp, chain: Chain = 'solana'): void {
  assert.throws(
    () => settingsOf(words, chain),
    (error: unknown) => {
      assert.ok(error instanceof CommandError, String(error))
      assert.equal(error.exitCode, 2)
      assert.match(error.message, reason)
      for (const secret of [KEY, PAYER, MINT, EVM_PAYER]) {
        assert.ok(!error.message.includes(secret), `${error.message} repeats what was given`)
      }
      return true
    },
  )
}

suite('--finality', () => {
  test('names a chain and its servers, in order', () => {
    assert.deepEqual(
      settingsOf([
        '--finality',
        `solana=https://rpc.example/${KEY},http://127.0.0.1:8899, https://c.example/?a=1,2`,
      ]),
      {
        chain: 'solana',
        urls: [`https://rpc.example/${KEY}`, 'http://127.0.0.1:8899', 'https://c.example/?a=1,2'],
        requestsPerMinute: 240,
        amounts: null,
        overdueMs: 3_600_000,
      },
    )
    assert.equal(settingsOf(['--finality', 'evm=https://rpc.example'], 'evm')?.chain, 'evm')
  })

  test('is off without the option', () => assert.equal(settingsOf([]), null))

  test('may come from the environment', () => {
    process.env['DAYBOOK_FINALITY'] = 'solana=https://rpc.example'
    try {
      assert.deepEqual(settingsOf([])?.urls, ['https://rpc.example'])
    } finally {
      delete process.env['DAYBOOK_FINALITY']
    }
  })

  test('is refused for another chain than that of the log, and for an opaque one', () => {
    assertRefused(
      ['--finality', `evm=https://rpc.example/${KEY}`],
      /this log has --chain solana: give solana=URL/,
    )
    assertRefused(['--finality', `solana=https://rpc.example/${KEY}`], /--chain opaque/, 'opaque')
  })

  test('is refused without repeating it when it cannot be read', () => {
    const refused: readonly (readonly [text: string, reason: RegExp])[] = [
      [`https://rpc.example/${KEY}`, /give solana=URL/],
      [`bitcoin=https://rpc.example/${KEY}`, /give solana=URL/],
      [`opaque=https://rpc.example/${KEY}`, /give solana=URL/],
      ['solana=', /URL 1 is no http or https URL/],
      [`solana=ftp://rpc.example/${KEY}`, /URL 1 is no http or https URL/],
      [`solana=https://a.example,wss://rpc.example/${KEY}`, /URL 2 is no http or https URL/],
      [`solana=http://[rpc.example/${KEY}`, /URL 1 is no http or https URL/],
      [
        `solana=https://a.example/${KEY},https://b.example,https://a.example/${KEY}`,
        /URL 3 .* repeats URL 1/,
      ],
      [
        `solana=${Array.from({ length: 9 }, (_, index) => `https://rpc.example/${index}`).join(',')}`,
        /8 at most/,
      ],
    ]
    for (const [text, reason] of refused) assertRefused(['--finality', text], reason)
  })
})

suite('--finality-amounts', () => {
  const solana = ['--finality', `solana=https://rpc.example/${KEY}`]

  test('names the paying account and the token', () => {
    const given = [...solana, '--finality-amounts', `payer=${PAYER},token=${MINT}`]
    assert.deepEqual(settingsOf(given)?.amounts, { payer: PAYER, token: MINT })
    const evm = [
      '--finality',
      'evm=https://rpc.example',
      '--finality-amounts',
      `payer=${EVM_PAYER},token=${EVM_PAYER}`,
    ]
    assert.deepEqual(settingsOf(evm, 'evm')?.amounts, { payer: EVM_PAYER, token: EVM_PAYER })
  })

  test('is refused without --finality', () =>
    assertRefused(['--finality-amounts', `payer=${PAYER},token=${MINT}`], /needs --finality/))

  test('is refused without repeating it when it cannot be read', () => {
    const refused: readonly (readonly [text: string, reason: RegExp])[] = [
      [PAYER, /give payer=ADDRESS,token=MINT/],
      [`payer=${PAYER}`, /give payer=ADDRESS,token=MINT/],
      [`token=${MINT},payer=${PAYER}`, /give payer=ADDRESS,token=MINT/],
      [`payer=${EVM_PAYER},token=${MINT}`, /payer is no address of solana/],
      [`payer=${PAYER},token=${MINT.slice(5)}`, /token is no address of solana/],
    ]
    for (const [text, reason] of refused) assertRefused([...solana, '--finality-amounts', text], reason)
  })
})

suite('--finality-requests', () => {
  test('sets the budget of each URL', () => {
    const given = ['--finality', 'solana=https://rpc.example', '--finality-requests', '1000']
    assert.equal(settingsOf(given)?.requestsPerMinute, 1_000)
  })

  test('is refused below what a batch needs', () =>
    assert.throws(() => settingsOf(['--finality-requests', '59']), /from 60 to 100000/))
})

suite('--finality-overdue', () => {
  const given = (minutes: string) => [
    '--finality',
    'solana=https://rpc.example',
    '--finality-overdue',
    minutes,
  ]

  test('sets the age in minutes from which a draft that waits is told', () =>
    assert.equal(settingsOf(given('5'))?.overdueMs, 300_000))

  test('is refused below a minute and over a week', () => {
    for (const minutes of ['0', '10081']) assert.throws(() => settingsOf(given(minutes)), /from 1 to 10080/)
  })
})
