import type { Daybook, EventWire, Flows, Summary } from '../../src/client/index.ts'

// This file only compiles: it checks the client's types against the table of endpoints.

type Same<One, Other> = [One, Other] extends [Other, One] ? true : false

export async function check(daybook: Daybook): Promise<void> {
  const summary: Same<Awaited<ReturnType<typeof daybook.summary>>, Summary> = true
  const flows: Same<Awaited<ReturnType<typeof daybook.flows>>, Flows> = true
  const event: Same<Awaited<ReturnType<typeof daybook.event>>, EventWire> = true
  void [summary, flows, event]

  await daybook.contests({ status: ['running', 'closed'], limit: 10 })
  // @ts-expect-error: unknown status of a contest
  await daybook.contests({ status: ['over'] })
  // @ts-expect-error: the summary has no pages
  await daybook.summary({ limit: 10 })
  // @ts-expect-error: the contest is missing
  await daybook.contestLedger()
  // @ts-expect-error: a contest has a number
  await daybook.contest('42')
  // @ts-expect-error: methods do not return CSV
  await daybook.page({ format: 'csv' })
  // @ts-expect-error: unknown type of event
  daybook.stream({ type: ['pay'] })
  // @ts-expect-error: amounts are strings, which nobody adds as floats by mistake
  for await (const { kots } of daybook.events()) void (kots * 2)
}
