import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { GeneratedMutant } from './generate-mutants.ts'
import type { Judgement } from './judge-mutant.ts'
import { faultsOfRun } from './report.ts'

/** Mutants of a file, and judgements of which the first `dead` died. */
function sampleOf(
  file: string,
  count: number,
  dead: number,
): Readonly<{ drawn: readonly GeneratedMutant[]; judged: readonly Judgement[] }> {
  const ids = Array.from({ length: count }, (_, index) => `${file} ${index}`)
  return {
    drawn: ids.map((id) => ({ id, file, start: 0, from: '<', to: '<=', rule: 'relation' })),
    judged: ids.map((id, index) => ({
      id,
      verdict: index >= dead ? 'survived' : index % 2 === 0 ? 'killed' : 'hung',
      passed: 1,
      seconds: 1,
    })),
  }
}

const byId = (judged: readonly Judgement[]): ReadonlyMap<string, Judgement> =>
  new Map(judged.map((one) => [one.id, one]))

suite('a sample of generated mutants fails', () => {
  const pure = sampleOf('src/tlog/tile.ts', 20, 18)
  const other = sampleOf('src/log/commit.ts', 20, 2)
  const drawn = [...pure.drawn, ...other.drawn]
  const judged = [...pure.judged, ...other.judged]
  const reasons = Object.fromEntries(drawn.map(({ id }) => [id, 'the same']))

  test('when fewer than 90 % of the pure rooms die, even if each survivor has a reason', () => {
    assert.deepEqual(faultsOfRun(drawn, byId(judged), reasons), [])
    const one = judged.map((row, index) => (index === 0 ? { ...row, verdict: 'unreached' as const } : row))
    assert.deepEqual(faultsOfRun(drawn, byId(one), reasons), [
      '17 of 20 mutants of the pure rooms die: at least 90 % must',
    ])
  })

  test('when a survivor of any room has no reason', () => {
    const { [other.drawn[19]?.id ?? '']: _reason, ...rest } = reasons
    assert.deepEqual(faultsOfRun(drawn, byId(judged), rest), [
      `no test kills this mutant, and no reason is listed: ${other.drawn[19]?.id}`,
    ])
  })

  test('when it is not finished; its share is not counted then', () => {
    assert.deepEqual(faultsOfRun(drawn, byId(pure.judged.slice(10)), reasons), [
      'the sample is not finished: 10 of 40 mutants are judged',
    ])
  })
})
