import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../protocol/moment.ts'
import type { Mirror } from '../../protocol/mirror-resource.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import { momentOf } from '../markup/moment-html.ts'
import type { Site } from '../markup/site.ts'

/** Delay from which a page says that its mirror is behind. */
const SAID_MS = 2 * SECOND_MS

/** Line on every page of a mirror: its origin, and how late it is. Null on a node that is no mirror. */
export function mirrorLine({ mirror }: Site): Html | null {
  const state = mirror?.() ?? null
  if (state === null) return null
  return html`<p class="strip" role="note">
    <span>This is a mirror of <a href="${state.of}">${hostOf(state.of)}</a>${delayOf(state)}</span>
  </p>`
}

/** Version of the line, which changes with its words. */
export function mirrorLineVersion(mirror: Mirror): string {
  const { state, behindMs, contactAt } = mirror
  return state === 'following' ? lateness(behindMs) : `${state} ${contactAt}`
}

function delayOf({ state, behindMs, contactAt }: Mirror): Html {
  switch (state) {
    case 'stopped':
      return html`. It has stopped, because its origin contradicts what it signed. All that is shown here was
      proved before.`
    case 'waiting':
      return contactAt === null
        ? html`, which has not answered yet.`
        : html`, which has not answered since ${momentOf(contactAt)} <span data-zone>UTC</span>.`
    case 'following':
      return html`, ${lateness(behindMs)}.`
  }
}

function lateness(behindMs: number): string {
  return behindMs < SAID_MS ? 'up to date' : `${durationWords(behindMs)} behind`
}

function durationWords(ms: number): string {
  if (ms < 10 * SECOND_MS) return counted(Math.floor(ms / SECOND_MS), 'second')
  if (ms < MINUTE_MS) return counted(Math.floor(ms / (10 * SECOND_MS)) * 10, 'second')
  if (ms < HOUR_MS) return counted(Math.floor(ms / MINUTE_MS), 'minute')
  return counted(Math.floor(ms / HOUR_MS), 'hour')
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url
}
