import type { TestEvent } from 'node:test/reporters'

/** Test reporter that lists the skipped tests and suites with their reasons. Node's summary omits skipped suites. */
// oxlint-disable-next-line import/no-default-export -- the runner takes a reporter's default export
export default async function* skips(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skipped: string[] = []
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.skip === undefined) continue
    skipped.push(data.skip === true ? data.name : `${data.name}: ${data.skip}`)
  }
  if (skipped.length > 0) yield `skipped:\n${skipped.map((line) => `  ${line}\n`).join('')}`
}
