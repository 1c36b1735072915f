import type uPlot from 'uplot'

/** How the axes of all charts look; `colors` gives the colour of a variable of the style sheet. */
export const axisLook = (colors: (variable: string) => string): uPlot.Axis => ({
  stroke: colors('--ink-2'),
  grid: { stroke: colors('--line'), width: 1 },
  ticks: { show: false },
  font: '12px system-ui, sans-serif',
})
