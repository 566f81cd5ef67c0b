import type { Parameter } from '../../protocol/parameters.ts'

/** Themes of a picture: light, dark, or the one that the reader's system prefers. */
export const THEMES = ['light', 'dark', 'auto'] as const
export type Theme = (typeof THEMES)[number]

/** Query parameter of pictures and embeds. The API does not have it. */
export const THEME: Parameter = {
  name: 'theme',
  form: { is: 'one-of', values: THEMES },
  absent: 'auto',
  meaning: 'Light or dark paper, or as the system of its reader prefers',
  example: 'dark',
}

type Palette = Readonly<Record<string, string>>

/** Colours of `style/tokens.css` that pictures use; a test compares them. */
export const LIGHT: Palette = {
  bg: '#fff',
  text: '#14181f',
  muted: '#4f5968',
  control: '#79838f',
  line: '#c9d0d9',
  'series-1': '#0b6cb8',
  'series-2': '#c24e00',
  'series-3': '#00805c',
  'series-4': '#7a4fa3',
  'heat-0': '#eef3fa',
  'heat-1': '#c6daf0',
  'heat-2': '#8fb8de',
  'heat-3': '#4a8cc4',
  'heat-4': '#0b57b8',
  'ink-low': '#14181f',
  'ink-3': '#14181f',
  'ink-4': '#fff',
}

export const DARK: Palette = {
  bg: '#0e1218',
  text: '#e8ecf1',
  muted: '#a8b2bf',
  control: '#6c7885',
  line: '#2e3844',
  'series-1': '#5aa9f0',
  'series-2': '#ff9255',
  'series-3': '#3fcb9e',
  'series-4': '#c3a0ea',
  'heat-0': '#18222e',
  'heat-1': '#1f3a57',
  'heat-2': '#2b5c8c',
  'heat-3': '#4a8fcc',
  'heat-4': '#8cc4ff',
  'ink-low': '#e8ecf1',
  'ink-3': '#0e1218',
  'ink-4': '#0e1218',
}

/** Style rules inside a picture, since no style sheet applies to an SVG that is shown as an image. */
export function pictureStyle(theme: Theme): string {
  const light = rules(LIGHT)
  const dark = rules(DARK)
  if (theme === 'light') return SHAPES + light
  if (theme === 'dark') return SHAPES + dark
  return `${SHAPES}${light}@media (prefers-color-scheme:dark){${dark}}`
}

// Plain colours, because renderers outside browsers do not support CSS variables.
function rules(colour: Palette): string {
  return [
    `.bg{fill:${colour['bg']}}`,
    `text{fill:${colour['muted']}}`,
    `.name,.coarse{fill:${colour['text']}}`,
    `.hair{stroke:${colour['line']}}`,
    `.axis,.hatch{stroke:${colour['control']}}`,
    `.tick{fill:${colour['control']}}`,
    ...[1, 2, 3, 4].map(
      (style) =>
        `.s${style}{stroke:${colour[`series-${style}`]}}.f${style}{fill:${colour[`series-${style}`]}}`,
    ),
    ...[0, 1, 2, 3, 4].map(
      (step) =>
        `.h${step}{fill:${colour[`heat-${step}`]}}.i${step}{fill:${colour[step < 3 ? 'ink-low' : `ink-${step}`]}}`,
    ),
  ].join('')
}

const SHAPES = [
  'text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}',
  '.name{font-size:22px;font-weight:700}',
  '.y{text-anchor:end}.x{text-anchor:middle}',
  '.s1,.s2,.s3,.s4{fill:none;stroke-width:2;stroke-linejoin:round;vector-effect:non-scaling-stroke}',
  '.s2{stroke-dasharray:7 3}.s3{stroke-dasharray:2 3}.s4{stroke-dasharray:8 3 2 3}',
].join('')
