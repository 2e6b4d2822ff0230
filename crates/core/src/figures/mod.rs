//! What an installation has and how old it is, over all companies: for metrics (R280).

mod installation;
mod reads;

pub use installation::{
    ConnectionFigures, ConnectionState, DueFigures, FigureQuery, Figures, MOST,
};
pub use reads::FigureReads;
