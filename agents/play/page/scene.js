// A scene on a canvas: what is shown of it, the windows of the glimpse, the path, the next look.
const GAZE = "rgb(255, 84, 40)";
const PATH = "rgb(255, 150, 110)";
export const TARGET = "rgb(240, 240, 80)";
export const LOOK = "rgb(120, 230, 255)";

export async function imageOf(uri) {
  const image = new Image();
  image.src = uri;
  await image.decode();
  return image;
}

// `view` may hold: dim, to darken what lies outside the windows; cursor {x, y} and reach, for keys;
// look, the distribution of the next one.
export async function drawScene(canvas, frame, view = {}) {
  const image = await imageOf(frame.image);
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, canvas.clientWidth);
  const scale = (width * ratio) / frame.width;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(frame.height * scale);
  const pen = canvas.getContext("2d");
  const unit = Math.max(1, canvas.width / 300);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  const windows = frame.outlines.map((one) => polygon(one.points, scale));
  if (view.dim && windows.length) dimOutside(pen, windows);
  [...windows].reverse().forEach((shape, index) => {
    pen.strokeStyle = frame.outlines[windows.length - 1 - index].colour;
    pen.lineWidth = 1.3 * unit;
    pen.stroke(shape);
  });
  for (const [x0, y0, x1, y1] of frame.boxes) {
    pen.strokeStyle = TARGET;
    pen.lineWidth = 1.3 * unit;
    pen.strokeRect(x0 * scale, y0 * scale, (x1 - x0) * scale, (y1 - y0) * scale);
  }
  if (view.look && windows.length) drawLook(pen, view.look, scale, unit);
  else if (view.look) drawPoint(pen, view.look, scale, unit);
  if (windows.length || view.path) drawPath(pen, frame.path, scale, unit);
  if (view.cursor) drawCursor(pen, view.cursor, frame, view.reach, scale, unit);
}

function polygon(points, scale) {
  const shape = new Path2D();
  points.forEach(([x, y], index) => (index ? shape.lineTo(x * scale, y * scale) : shape.moveTo(x * scale, y * scale)));
  shape.closePath();
  return shape;
}

function dimOutside(pen, windows) {
  const outside = new Path2D();
  outside.rect(0, 0, pen.canvas.width, pen.canvas.height);
  outside.addPath(windows[windows.length - 1]);
  pen.fillStyle = "rgba(0, 0, 0, 0.5)";
  pen.fill(outside, "evenodd");
}

function drawPath(pen, path, scale, unit) {
  const places = path.map(([x, y]) => [x * scale, y * scale]);
  pen.lineCap = "round";
  places.forEach(([x, y], index) => {
    if (!index) return;
    const share = 0.35 + 0.65 * (index / (places.length - 1));
    for (const [colour, wide] of [["rgba(0, 0, 0, 0.6)", 3], [PATH, 1.4]]) {
      pen.globalAlpha = share;
      pen.strokeStyle = colour;
      pen.lineWidth = wide * unit;
      pen.beginPath();
      pen.moveTo(...places[index - 1]);
      pen.lineTo(x, y);
      pen.stroke();
    }
  });
  pen.globalAlpha = 1;
  places.forEach(([x, y], index) => {
    const now = index === places.length - 1;
    disc(pen, x, y, (now ? 4.4 : 3.2) * unit, "black");
    disc(pen, x, y, (now ? 3.6 : 2.4) * unit, now ? GAZE : PATH);
  });
}

function disc(pen, x, y, radius, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}

function drawCursor(pen, cursor, frame, reach, scale, unit) {
  const [x, y] = [cursor.x * pen.canvas.width, cursor.y * pen.canvas.height];
  for (const [colour, wide] of [["rgba(0, 0, 0, 0.7)", 3], ["white", 1.2]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = wide * unit;
    pen.beginPath();
    pen.moveTo(x - 7 * unit, y);
    pen.lineTo(x + 7 * unit, y);
    pen.moveTo(x, y - 7 * unit);
    pen.lineTo(x, y + 7 * unit);
    pen.stroke();
  }
  if (!reach) return;
  const [gazeX, gazeY] = frame.path[frame.path.length - 1];
  pen.setLineDash([3 * unit, 3 * unit]);
  pen.strokeStyle = "rgba(255, 255, 255, 0.5)";
  pen.beginPath();
  pen.arc(gazeX * scale, gazeY * scale, reach * scale, 0, 2 * Math.PI);
  pen.stroke();
  pen.setLineDash([]);
}

function drawLook(pen, look, scale, unit) {
  if (look.mean) {
    const [x, y] = look.mean.map((value) => value * scale);
    for (const times of [2, 1]) {
      pen.fillStyle = "rgba(120, 230, 255, 0.2)";
      pen.strokeStyle = "rgba(120, 230, 255, 0.8)";
      pen.lineWidth = unit;
      pen.beginPath();
      pen.ellipse(x, y, times * look.std[0] * scale, times * look.std[1] * scale, 0, 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
    }
  } else if (look.places) {
    const shares = look.parts[0];
    const most = Math.max(...shares);
    look.places.forEach(([x, y], index) => {
      pen.globalAlpha = Math.sqrt(shares[index] / most);
      pen.strokeStyle = LOOK;
      pen.lineWidth = 1.5 * unit;
      pen.beginPath();
      pen.arc(x * scale, y * scale, (2 + 8 * Math.sqrt(shares[index])) * unit, 0, 2 * Math.PI);
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }
}

// Where a model that sees the whole scene points: at the likeliest place.
function drawPoint(pen, look, scale, unit) {
  const shares = look.parts?.[0];
  const place = shares ? look.places[shares.indexOf(Math.max(...shares))] : look.mean;
  const [x, y] = place.map((value) => value * scale);
  disc(pen, x, y, 4.4 * unit, "black");
  disc(pen, x, y, 3.6 * unit, LOOK);
}
