//! Spanish.

use super::Lexicon;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "es",
    common: "el la los las un una unos unas lo al del de y o u e pero no sí ni que en a con por para \
        sin sobre entre hasta desde hacia es son era eran fue fueron ser está están estaba \
        estaban estar ha han he hay había tiene tienen tenía tengo tener hace hizo puede pueden \
        podía quiere quieren yo tú él ella ellos ellas nosotros usted ustedes me te se le les \
        nos mi mis tu tus su sus nuestro nuestra nuestros mío este esta estos estas ese esa eso \
        aquel aquella esto aquí allí ahí como más menos muy ya también todavía aún siempre nunca \
        nada algo alguien todo toda todos todas otro otra mucho mucha muchos muchas si porque \
        cuando donde gusta gustan",
    stop_words: "a al como con cuál cuáles cuándo cuánta cuántas cuánto cuántos de del desde donde \
        dónde e el ella ellas ellos en entre era eran es esa ese eso esta está están este esto \
        estos fue fueron ha han hasta hay la las le les lo los me mi mis nos nuestra nuestro o \
        para pero por porque que qué quién quiénes se ser si sobre son su sus te tiene tienen tu \
        tus un una unas unos y ya yo",
    time: "ayer anteayer hoy mañana anoche semana semanas mes meses año años día días lunes martes \
        miércoles jueves viernes sábado sábados domingo domingos tarde tardes noche noches \
        madrugada mediodía hora horas minuto minutos pasado pasada próximo próxima último última \
        desde recientemente pronto antes después verano invierno primavera otoño navidad siglo \
        década",
    kin: "madre mamá padre papá hermana hermanas hermano hermanos hijo hija hijos hijas esposa \
        esposo marido mujer amigo amiga amigos amigas familia padres niño niña niños abuela \
        abuelo abuelos nieto nieta tía tío primo prima sobrino sobrina pareja novio novia \
        prometido prometida compañero compañera compañeros colega colegas jefe jefa mentor \
        mentora equipo vecino vecina vecinos suegra suegro cuñado cuñada profesor profesora \
        médico médica",
    months: [
        "enero #ene",
        "febrero #feb",
        "marzo #mar",
        "abril #abr",
        "*mayo",
        "junio #jun",
        "julio #jul",
        "agosto #ago",
        "septiembre setiembre #sep #sept",
        "octubre #oct",
        "noviembre #nov",
        "diciembre #dic",
    ],
    in_month: "en de desde hasta del",
    asks: "por es son era fue está están ha han hay tiene tienen puede pueden le les se hizo vive",
    when: "cuándo",
    place: "dónde adónde",
    who: "quién quiénes",
    which: "qué cuál cuáles",
    how: "cómo cuánto cuánta cuántos cuántas",
    named: "ciudad ciudades libro libros nombre nombres país países lugar canción canciones película \
        películas juego empresa compañía pueblo banda grupo artista escuela universidad \
        restaurante hotel calle idioma",
    called: "llama llaman llamaba llamaban",
    times: "tiempo fecha día días mes meses semana semanas año años hora horas minutos",
    numbers: "uno dos tres cuatro cinco seis siete ocho nueve diez once doce cien mil",
    ..Lexicon::NOTHING
};
