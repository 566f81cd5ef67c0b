import type { Daybook, EventWire, Flows, Summary } from '../../src/client/index.ts'

// Nothing of this runs: it compiles when the client's types say what the table of endpoints says.

type Same<One, Other> = [One, Other] extends [Other, One] ? true : false

export async function check(daybook: Daybook): Promise<void> {
  const summary: Same<Awaited<ReturnType<typeof daybook.summary>>, Summary> = true
  const flows: Same<Awaited<ReturnType<typeof daybook.flows>>, Flows> = true
  const event: Same<Awaited<ReturnType<typeof daybook.event>>, EventWire> = true
  void [summary, flows, event]

  await daybook.contests({ status: ['running', 'closed'], limit: 10 })
  // @ts-expect-error: no status of a contest
  await daybook.contests({ status: ['over'] })
  // @ts-expect-error: the summary has no pages
  await daybook.summary({ limit: 10 })
  // @ts-expect-error: which contest
  await daybook.contestLedger()
  // @ts-expect-error: a contest is named by its number
  await daybook.contest('42')
  // @ts-expect-error: CSV is no answer of a method
  await daybook.page({ format: 'csv' })
  // @ts-expect-error: no type of events
  daybook.stream({ type: ['pay'] })
  // @ts-expect-error: amounts are strings, so that nobody adds them as floats by mistake
  for await (const { kots } of daybook.events()) void (kots * 2)
}
