export function draw(ctx) {
  const a = `w${ctx.w}`;
  return a < "b" && ctx.h > 2;
}
