import type { Ms } from '../src/protocol/moment.ts'

/** Queue of the simulation's future actions, by moment. */
export type Agenda = Readonly<{
  add(at: Ms, act: () => void): void
  /** Removes the next action; among equal moments the one that was added first. */
  next(): Readonly<{ at: Ms; act: () => void }> | undefined
}>

type Entry = Readonly<{ at: Ms; order: number; act: () => void }>

/** Opens an empty agenda: a binary heap, whose memory depends on pending actions only. */
export function openAgenda(): Agenda {
  const heap: Entry[] = []
  let order = 0
  return {
    add(at, act) {
      heap.push({ at, order: order++, act })
      rise(heap, heap.length - 1)
    },
    next() {
      const first = heap[0]
      const last = heap.pop()
      if (first === undefined || last === undefined) return undefined
      if (heap.length > 0) {
        heap[0] = last
        sink(heap, 0)
      }
      return first
    },
  }
}

function before(heap: readonly Entry[], left: number, right: number): boolean {
  const a = heap[left]
  const b = heap[right]
  if (a === undefined || b === undefined) return a !== undefined
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

function rise(heap: Entry[], start: number): void {
  let child = start
  while (child > 0) {
    const parent = (child - 1) >> 1
    if (!before(heap, child, parent)) return
    swap(heap, child, parent)
    child = parent
  }
}

function sink(heap: Entry[], start: number): void {
  let parent = start
  for (;;) {
    const left = 2 * parent + 1
    if (left >= heap.length) return
    const child = before(heap, left + 1, left) ? left + 1 : left
    if (!before(heap, child, parent)) return
    swap(heap, child, parent)
    parent = child
  }
}

function swap(heap: Entry[], left: number, right: number): void {
  const a = heap[left]
  const b = heap[right]
  if (a === undefined || b === undefined) return
  heap[left] = b
  heap[right] = a
}
