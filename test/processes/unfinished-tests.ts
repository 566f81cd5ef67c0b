import type { TestEvent } from 'node:test/reporters'

/** Test reporter that lists the tests that had begun and not ended when the run was stopped. */
export async function* unfinishedTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const running = new Map<string, string>()
  for await (const { type, data } of events) {
    // A process that has passed only completes.
    if (type !== 'test:dequeue' && type !== 'test:complete' && type !== 'test:fail') continue
    const { name, file, line, column } = data
    const place = `${file}:${line}:${column} ${name}`
    if (type !== 'test:dequeue') running.delete(place)
    else running.set(place, `${file}: ${name}`)
  }
  if (running.size > 0) yield `unfinished:\n${[...running.values()].map((line) => `  ${line}\n`).join('')}`
}
